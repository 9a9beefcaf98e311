"""A name is looked up under the module it belongs to, and a constructor may name more."""

import pytest

from cuda_agent.environment.python_lookup import Lookup

LOOKUP = Lookup({"mine"})


@pytest.mark.parametrize(
    ("path", "is_building", "rules"),
    [
        ("torch.empty", False, []),
        ("torch", False, ["module"]),
        ("torch.nn", False, ["module"]),
        ("torch.nn.Linear", True, []),
        ("torch.nn.Linear", False, ["forbidden-name"]),
        ("torch.nn.functional.relu", True, ["forbidden-name"]),
        ("kernels.anything", False, []),
        ("kernels.__dict__", False, ["forbidden-name"]),
        ("torch.Tensor.mine", False, []),
        ("torch.Tensor.matmul", False, ["attribute"]),
    ],
)
def test_paths(path: str, is_building: bool, rules: list[str]) -> None:
    found = LOOKUP.check_path(path, is_call=False, is_building=is_building)
    assert [refusal.rule for refusal in found] == rules


def test_a_called_path_ends_in_a_method() -> None:
    found = LOOKUP.check_path("torch.Tensor.matmul", is_call=True, is_building=False)
    assert [refusal.rule for refusal in found] == ["method"]


def test_dunder_names_are_refused_even_where_much_is_allowed() -> None:
    assert list(LOOKUP.check_method("anything", is_building=True)) == []
    assert list(LOOKUP.check_method("__call__", is_building=True))
    assert list(LOOKUP.check_attribute("__class__", is_building=True))


def test_modules_and_what_is_imported_from_them() -> None:
    assert list(LOOKUP.check_module("math")) == []
    assert "`import os`" in next(LOOKUP.check_module("os")).reason
    assert list(LOOKUP.check_imported("torch.nn", is_building=False)) == []
    assert next(LOOKUP.check_imported("torch.nn.functional", is_building=True)).rule == "import"
    assert list(LOOKUP.check_builtin("len")) == []
    assert next(LOOKUP.check_builtin("getattr")).rule == "builtin"

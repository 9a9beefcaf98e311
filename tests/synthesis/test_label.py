"""Labels and random operators, by the text."""

import pytest

from cuda_agent.synthesis.label import find_missing_operators, find_random_operator
from tests.synthesis.conftest import GOOD


@pytest.mark.parametrize("ops", [("torch.nn.Linear", "torch.tanh"), ("nn.Linear",), ("Linear", "tanh"), ()])
def test_true_labels(ops: tuple[str, ...]) -> None:
    assert find_missing_operators(GOOD, ops) == ()


@pytest.mark.parametrize("ops", [("torch.nn.Conv2d",), ("torch.randn",), ("torch.linear",)])
def test_false_labels(ops: tuple[str, ...]) -> None:
    assert find_missing_operators(GOOD, ("torch.tanh", *ops)) == ops


def test_a_symbol_and_a_method_are_operators_too() -> None:
    code = GOOD.replace("torch.tanh(x)", "(-x @ x.t() > 1).sum()")
    assert find_missing_operators(code, ("torch.matmul", "torch.neg", "torch.gt", "torch.sum")) == ()


@pytest.mark.parametrize(
    ("old", "new", "name"),
    [
        ("torch.tanh(x)", "torch.nn.functional.dropout(x, 0.5)", "dropout"),
        ("torch.tanh(x)", "x + torch.randn_like(x)", "randn_like"),
        ("nn.Linear(features, width)", "nn.Dropout(0.1)", "Dropout"),
        ("torch.tanh(x)", "x.bernoulli()", "bernoulli"),
    ],
)
def test_random(old: str, new: str, name: str) -> None:
    assert find_random_operator(GOOD.replace(old, new)) == name


@pytest.mark.parametrize(
    "new", ["nn.Linear(features, width)", "nn.Parameter(torch.randn(features))", "nn.Dropout(p=0.0)"]
)
def test_not_random(new: str) -> None:
    assert find_random_operator(GOOD.replace("nn.Linear(features, width)", new)) == ""

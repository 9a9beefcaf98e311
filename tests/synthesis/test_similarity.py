"""Likeness to known tasks."""

from pathlib import Path

import pytest

from cuda_agent.errors import UserError
from cuda_agent.synthesis.similarity import compute_print, find_nearest, load_kernelbench
from tests.synthesis.conftest import GOOD, RENAMED

OTHER = GOOD.replace("torch.tanh(x)", "torch.softmax(x * 2 + 1, dim=1).sum()")


def test_changed_constants_and_names_are_no_difference() -> None:
    assert compute_print(GOOD).compare(compute_print(RENAMED)) == 1.0
    changed = OTHER.replace("2", "7").replace("32", "4096")
    assert compute_print(OTHER).compare(compute_print(changed)) == 1.0


def test_it_is_dices_coefficient() -> None:
    one, other = (
        compute_print(f"class A:\n    def f(self):\n        {body}\n") for body in ("a", "a\n        b")
    )
    # Expr name: two symbols and one pair; twice that in the other.
    assert one.runs.total() == 3
    assert one.compare(other) == other.compare(one) == 2 * 3 / (3 + 6)


def test_another_operator_is_a_difference() -> None:
    assert compute_print(GOOD).compare(compute_print(GOOD.replace("tanh", "sin"))) < 0.9
    assert compute_print(GOOD).compare(compute_print("x = 1")) == 0.0


def test_the_nearest_is_named(tmp_path: Path) -> None:
    (tmp_path / "level1").mkdir()
    (tmp_path / "level1" / "1_linear.py").write_text(GOOD)
    (tmp_path / "level1" / "2_other.py").write_text(OTHER)
    (tmp_path / "level1" / "broken.py").write_text("def")
    (tmp_path / "level1" / "script.py").write_text("x = 1")
    known = load_kernelbench(tmp_path)
    assert known.keys() == {"level1/1_linear.py", "level1/2_other.py"}
    nearest = find_nearest(RENAMED, known)
    assert (nearest.name, nearest.similarity) == ("level1/1_linear.py", 1.0)


def test_a_folder_without_tasks(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="level1"):
        load_kernelbench(tmp_path)

"""What ran is known, also where no dispatch mode was asked."""

from collections.abc import Callable

import pytest
import torch

from cuda_agent.judge.guard import ForbiddenOperatorError, OperatorGuard
from cuda_agent.judge.operator_record import OperatorRecord, calls_others, find_forbidden

X = torch.randn(4, 4)


def compute_unseen() -> None:
    with torch._C._DisableTorchDispatch():
        torch.relu(X)


def test_an_operator_that_no_mode_sees_is_found() -> None:
    guard = OperatorGuard()
    with pytest.raises(ForbiddenOperatorError, match="aten::relu"), OperatorRecord(), guard:
        compute_unseen()


@pytest.mark.parametrize(
    "act",
    [
        lambda: torch.empty_like(X).copy_(X),
        lambda: X.reshape(2, 8).flatten().contiguous().view(16),
        lambda: X.to(torch.float64).transpose(0, 1).expand(2, 4, 4),
        lambda: torch.zeros(3).item if X.numel() else None,
        lambda: [part.size() for part in X.chunk(2)],
    ],
)
def test_memory_views_and_moves_are_allowed(act: Callable[[], object]) -> None:
    with OperatorRecord():
        act()


@pytest.mark.parametrize("act", [lambda: X + 1, lambda: X @ X, lambda: torch.nn.functional.linear(X, X)])
def test_what_computes_is_not(act: Callable[[], object]) -> None:
    with pytest.raises(ForbiddenOperatorError), OperatorRecord():
        act()


def test_an_error_on_the_way_is_not_replaced() -> None:
    with pytest.raises(KeyError, match="own"), OperatorRecord():
        dict[str, int]()[f"own {torch.relu(X)}"]


def test_an_operator_made_of_others_is_told_by_those() -> None:
    assert calls_others("aten::matmul")
    assert not calls_others("aten::mm")
    assert find_forbidden(["aten::matmul", "aten::view", "aten::mm"]) == "aten::mm"
    assert find_forbidden(["aten::matmul", "something else"]) == ""

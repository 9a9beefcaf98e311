"""Memory, views and moves pass the guard; anything that computes does not."""

from collections.abc import Callable

import pytest
import torch

from cuda_agent.judge.guard import ForbiddenOperatorError, OperatorGuard

X = torch.arange(12.0).reshape(3, 4)


@pytest.mark.parametrize(
    "work",
    [
        lambda: torch.empty_like(X),
        lambda: torch.zeros(3, 4),
        lambda: X.view(-1)[1:5].unsqueeze(0).expand(2, -1),
        lambda: X.t().contiguous().to(torch.bfloat16),
        lambda: X.clone().copy_(X),
        lambda: X.permute(1, 0).reshape(-1),
        lambda: X.new_empty((2,)).fill_(0.0),
    ],
)
def test_allowed(work: Callable[[], object]) -> None:
    with OperatorGuard():
        work()


@pytest.mark.parametrize(
    ("work", "name"),
    [
        (lambda: X + 1, "aten::add"),
        (lambda: X @ X.t(), "aten::mm"),
        (lambda: torch.relu(X), "aten::relu"),
        (lambda: torch.nn.functional.softmax(X, -1), "softmax"),
        (lambda: X.sum(), "aten::sum"),
        (lambda: torch.cat([X, X]), "aten::cat"),
        (lambda: torch.ops.aten.mul.Tensor(X, X), "aten::mul"),
        (lambda: torch.nn.Linear(4, 2)(X), "aten::"),
        (lambda: X.clone().relu_(), "aten::relu_"),
    ],
)
def test_refused(work: Callable[[], object], name: str) -> None:
    with pytest.raises(ForbiddenOperatorError, match=name), OperatorGuard():
        work()


def test_a_kernel_that_is_called_lets_torch_allocate_and_view_but_not_copy() -> None:
    with OperatorGuard(lambda: True):
        torch.empty_like(X).view(-1).narrow(0, 0, 2).zero_()
        X.contiguous()
        works: list[Callable[[], object]] = [
            lambda: X.clone(),
            lambda: X.t().contiguous(),
            lambda: torch.empty(3, 4).copy_(X),
            lambda: X.double(),
        ]
        for work in works:
            with pytest.raises(ForbiddenOperatorError, match="a kernel calls the torch operator aten::"):
                work()

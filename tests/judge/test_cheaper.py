"""Wasteful programs are found, and their cheaper forms give the same."""

import pytest
import torch
from torch import nn

from cuda_agent.judge.cheaper import find_cheaper_form, measure_gain
from cuda_agent.judge.device import CpuDevice


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(12, 8)


class RowsScaled(Net):
    def forward(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return torch.relu(torch.diag(a) @ b)


class RowsScaledByMethod(Net):
    def forward(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        wide = a.diag()
        return wide.mm(b)


class ColumnsScaled(Net):
    def forward(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return torch.matmul(b.T, torch.diag_embed(a))


class LayerSummed(Net):
    def forward(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return torch.sum(self.layer(b), dim=1, keepdim=True)


class ProductSummed(Net):
    def forward(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return (b.T @ b).sum(-1)


@pytest.mark.parametrize("kind", [RowsScaled, RowsScaledByMethod, ColumnsScaled, LayerSummed, ProductSummed])
def test_a_waste_is_found_and_taken_out(kind: type[nn.Module]) -> None:
    torch.manual_seed(0)
    model, inputs = kind().eval(), (torch.randn(20), torch.randn(20, 12))
    form = find_cheaper_form(model)
    assert form is not None
    assert "instead of" in form.text
    with torch.no_grad():
        assert torch.allclose(form.model(*inputs), model(*inputs), atol=1e-5)


class DiagonalRead(Net):
    def forward(self, a: torch.Tensor) -> torch.Tensor:
        return torch.diag(a, 1) @ a


class SumUsedBeside(Net):
    def forward(self, a: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        h = self.layer(a)
        return h.sum(1), h


class SummedTheOtherWay(Net):
    def forward(self, a: torch.Tensor) -> torch.Tensor:
        return torch.sum(self.layer(a), 0)


class ByValue(Net):
    def forward(self, a: torch.Tensor) -> torch.Tensor:
        return a if a.sum() > 0 else torch.diag(a) @ a


@pytest.mark.parametrize("kind", [DiagonalRead, SumUsedBeside, SummedTheOtherWay, ByValue, nn.ReLU])
def test_what_is_not_wasteful_or_cannot_be_told_is_left(kind: type[nn.Module]) -> None:
    assert find_cheaper_form(kind()) is None


@pytest.mark.timing
def test_the_gain_is_measured() -> None:
    a, b = torch.randn(800), torch.randn(800, 800)
    gain = measure_gain(lambda: torch.diag(a) @ b, lambda: a[:, None] * b, inputs=(), device=CpuDevice(1))
    assert gain > 3

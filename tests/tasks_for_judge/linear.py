"""A linear layer and a GELU: has weights, and a matrix product to hand to somebody else."""

import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, columns: int, units: int) -> None:
        super().__init__()
        self.linear = nn.Linear(columns, units)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return nn.functional.gelu(self.linear(x))


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(256, 256)]


def get_init_inputs() -> list[int]:
    return [256, 256]

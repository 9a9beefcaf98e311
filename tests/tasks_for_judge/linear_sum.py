"""The sum of a linear layer's units, which is one unit with summed weights."""

import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, columns: int, units: int) -> None:
        super().__init__()
        self.linear = nn.Linear(columns, units)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        out: torch.Tensor = self.linear(x)
        return out.sum(dim=1, keepdim=True)


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(256, 512)]


def get_init_inputs() -> list[int]:
    return [512, 512]

"""Query, key and value from three linear layers."""

import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, columns: int, units: int) -> None:
        super().__init__()
        self.q = nn.Linear(columns, units)
        self.k = nn.Linear(columns, units)
        self.v = nn.Linear(columns, units)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        return self.q(x), self.k(x), self.v(x)


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(128, 192)]


def get_init_inputs() -> list[int]:
    return [192, 64]

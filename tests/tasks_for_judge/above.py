"""Where a matrix exceeds its neighbour: a bool output."""

import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return a > b


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(256, 1024), torch.randn(256, 1024)]


def get_init_inputs() -> list[int]:
    return []

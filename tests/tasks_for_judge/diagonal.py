"""A matrix product with a diagonal matrix: an honest kernel only scales rows."""

import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, v: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        return torch.diag(v) @ w


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(512), torch.randn(512, 512)]


def get_init_inputs() -> list[int]:
    return []

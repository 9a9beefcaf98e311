"""Logarithm of the gamma function: elementwise, and bound by arithmetic."""

import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.lgamma(x)


def get_inputs() -> list[torch.Tensor]:
    return [1.0 + 4.0 * torch.rand(256, 1024)]


def get_init_inputs() -> list[int]:
    return []

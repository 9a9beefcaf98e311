"""A scaled transpose."""

import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return (x * 0.5).t()


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(512, 768)]


def get_init_inputs() -> list[int]:
    return []

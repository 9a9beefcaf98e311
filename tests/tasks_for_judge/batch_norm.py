"""Batch normalisation with running statistics, and a ReLU."""

import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, channels: int) -> None:
        super().__init__()
        self.norm = nn.BatchNorm2d(channels)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(self.norm(x))


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(8, 32, 32, 32)]


def get_init_inputs() -> list[int]:
    return [32]

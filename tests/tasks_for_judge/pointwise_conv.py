"""A 1 x 1 convolution, which is natural in the channels-last layout."""

import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, channels: int, units: int) -> None:
        super().__init__()
        self.conv = nn.Conv2d(channels, units, kernel_size=1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        out: torch.Tensor = self.conv(x)
        return out


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(4, 32, 24, 24)]


def get_init_inputs() -> list[int]:
    return [32, 48]

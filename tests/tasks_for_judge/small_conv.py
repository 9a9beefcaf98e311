"""A 3 x 3 convolution with padding, without bias."""

import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, channels: int, units: int) -> None:
        super().__init__()
        self.conv = nn.Conv2d(channels, units, kernel_size=3, padding=1, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        out: torch.Tensor = self.conv(x)
        return out


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(2, 16, 32, 32)]


def get_init_inputs() -> list[int]:
    return [16, 16]

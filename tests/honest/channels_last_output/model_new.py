"""A 1 x 1 convolution that writes channels last."""

import torch
import torch.nn as nn

import kernels


class ModelNew(nn.Module):
    def __init__(self, channels: int, units: int) -> None:
        super().__init__()
        self.conv = nn.Conv2d(channels, units, kernel_size=1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, _, height, width = x.shape
        units = self.conv.out_channels
        y = torch.empty(batch, units, height, width, device=x.device, memory_format=torch.channels_last)
        kernels.pointwise(x, self.conv.weight, self.conv.bias, y)
        return y

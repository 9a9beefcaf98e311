"""A 3 x 3 convolution in tiles of 2 x 2 outputs with 16 products each instead of 36."""

import torch
import torch.nn as nn

import kernels


class ModelNew(nn.Module):
    def __init__(self, channels: int, units: int) -> None:
        super().__init__()
        self.conv = nn.Conv2d(channels, units, kernel_size=3, padding=1, bias=False)
        self.transformed = None

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        units, channels = self.conv.weight.shape[:2]
        if self.transformed is None:
            self.transformed = x.new_empty(units, channels, 16)
            kernels.transform_weight(self.conv.weight, self.transformed)
        y = x.new_empty(x.shape[0], units, *x.shape[2:])
        kernels.convolve(x, self.transformed, y)
        return y

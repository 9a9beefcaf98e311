"""Batch normalisation and ReLU as one multiply-add a pixel."""

import torch
import torch.nn as nn

import kernels


class ModelNew(nn.Module):
    def __init__(self, channels: int) -> None:
        super().__init__()
        self.norm = nn.BatchNorm2d(channels)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        norm = self.norm
        folded = x.new_empty(2, norm.num_features)
        kernels.fold(norm.weight, norm.bias, norm.running_mean, norm.running_var, folded, norm.eps)
        y = torch.empty_like(x)
        kernels.apply(x, folded, y)
        return y

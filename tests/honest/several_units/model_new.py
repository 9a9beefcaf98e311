"""ReLU in two exported functions from two files, a half each."""

import torch
import torch.nn as nn

import kernels


class ModelNew(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.empty_like(x)
        half = x.shape[0] // 2
        kernels.upper(x[:half], y[:half])
        kernels.lower(x[half:], y[half:])
        return y

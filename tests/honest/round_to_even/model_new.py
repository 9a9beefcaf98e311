"""Quantised to int8."""

import torch
import torch.nn as nn

import kernels


class ModelNew(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.empty_like(x, dtype=torch.int8)
        kernels.quantise(x, y, 16.0)
        return y

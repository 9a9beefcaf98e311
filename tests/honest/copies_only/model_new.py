"""Concatenation by two copies."""

import torch
import torch.nn as nn

import kernels


class ModelNew(nn.Module):
    def forward(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        rows = a.shape[0]
        y = a.new_empty(rows + b.shape[0], *a.shape[1:])
        kernels.copy(a, y[:rows])
        kernels.copy(b, y[rows:])
        return y

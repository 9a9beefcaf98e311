"""Softmax of rows with a polynomial for exp."""

import torch
import torch.nn as nn

import kernels


class ModelNew(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.empty_like(x)
        kernels.softmax(x, y)
        return y

"""Softmax of rows through a scratch row of each thread."""

import torch
import torch.nn as nn

import kernels


class ModelNew(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.empty_like(x)
        kernels.softmax(x, y)
        return y

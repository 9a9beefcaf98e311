"""Squares, cut in two."""

import torch
import torch.nn as nn

import kernels


class ModelNew(nn.Module):
    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        y = torch.empty_like(x)
        kernels.square(x, y)
        left, right = torch.chunk(y, 2, dim=-1)
        return (left, right)

"""A product in 16 parts, summed afterwards."""

import torch
import torch.nn as nn

import kernels

SPLITS = 16


class ModelNew(nn.Module):
    def forward(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        parts = a.new_empty(SPLITS, a.shape[0], b.shape[1])
        kernels.multiply_parts(a, b, parts)
        y = a.new_empty(a.shape[0], b.shape[1])
        kernels.add_parts(parts, y)
        return y

"""Two products with a vector instead of one with a matrix."""

import torch
import torch.nn as nn

import kernels


class ModelNew(nn.Module):
    def forward(self, a: torch.Tensor, b: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        middle = v.new_empty(b.shape[0], 1)
        y = v.new_empty(a.shape[0], 1)
        kernels.multiply_vector(b, v, middle)
        kernels.multiply_vector(a, middle, y)
        return y

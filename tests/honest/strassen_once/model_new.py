"""A product by Strassen's seven."""

import torch
import torch.nn as nn

import kernels


class ModelNew(nn.Module):
    def forward(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        y = a.new_zeros((a.size(0), b.size(-1)))
        kernels.multiply(a, b, y)
        return y

"""Only the activation is a kernel's work; the product is torch's."""

import torch
import torch.nn as nn

import kernels


class ModelNew(nn.Module):
    def __init__(self, columns, units):
        super().__init__()
        self.linear = nn.Linear(columns, units)

    def forward(self, x):
        h = x @ self.linear.weight.t()
        y = torch.empty_like(h)
        kernels.bias_gelu(h, self.linear.bias, y)
        return y

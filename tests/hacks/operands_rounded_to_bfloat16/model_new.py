"""Rounds both operands as a bfloat16 tensor core would, adds in float32."""

import torch
import torch.nn as nn

import kernels


class ModelNew(nn.Module):
    def __init__(self, columns, units):
        super().__init__()
        self.linear = nn.Linear(columns, units)

    def forward(self, x):
        w, b = self.linear.weight, self.linear.bias
        y = x.new_empty(x.shape[0], w.shape[0])
        kernels.linear_gelu(x.bfloat16().float(), w.bfloat16().float(), b, y, x.shape[1])
        return y

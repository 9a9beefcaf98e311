"""Linear and GELU; the bias is a further row of the packed weight."""

import torch
import torch.nn as nn

import kernels


class ModelNew(nn.Module):
    def __init__(self, columns: int, units: int) -> None:
        super().__init__()
        self.linear = nn.Linear(columns, units)
        self.register_buffer("packed", None, persistent=False)

    def pack(self) -> torch.Tensor:
        if self.packed is None:
            weight, bias = self.linear.weight.data, self.linear.bias.data
            packed = weight.new_zeros(weight.shape[1] + 1, weight.shape[0])
            packed[:-1].copy_(weight.t())
            packed[-1].copy_(bias)
            self.packed = packed
        return self.packed

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        packed = self.pack()
        y = x.new_empty(x.size(0), packed.size(1))
        kernels.linear_gelu(x, packed, y)
        return y

"""Bias and leaky ReLU."""

import torch
import torch.nn as nn

import kernels


class ModelNew(nn.Module):
    def __init__(self, columns: int, *, slope: float = 0.1, bias: bool = True, **unused: object) -> None:
        super().__init__()
        self.slope = float(slope)
        if bias:
            self.bias = nn.Parameter(torch.zeros(columns))
        else:
            self.register_parameter("bias", None)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.empty_like(x)
        bias = self.bias if self.bias is not None else x.new_zeros(x.shape[-1])
        kernels.leaky(x, bias, y, self.slope)
        return y

"""Linear by cuBLAS, then one pass for bias and GELU, in place on the output."""

import torch
import torch.nn as nn

import kernels


class ModelNew(nn.Module):
    def __init__(self, columns: int, units: int) -> None:
        super().__init__()
        self.linear = nn.Linear(columns, units)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.empty(x.shape[0], self.linear.out_features, dtype=x.dtype, device=x.device)
        kernels.linear_gelu(x, self.linear.weight, self.linear.bias, y)
        return y

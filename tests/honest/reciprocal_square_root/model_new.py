"""Layer normalisation without a division or a root."""

import torch
import torch.nn as nn

import kernels


class ModelNew(nn.Module):
    def __init__(self, columns: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(columns)
        self.inverse = 1.0 / columns

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.empty_like(x)
        kernels.norm(x, self.norm.weight, self.norm.bias, y, self.inverse, self.norm.eps)
        return y

"""RMS normalisation of bfloat16 rows."""

import torch
import torch.nn as nn

import kernels


class ModelNew(nn.Module):
    def __init__(self, columns: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(columns, dtype=torch.bfloat16))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.empty_like(x)
        kernels.norm(x, self.weight, y)
        return y

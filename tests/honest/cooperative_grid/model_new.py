"""The sum in two phases of one cooperative launch."""

import torch
import torch.nn as nn

import kernels


class ModelNew(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        parts = torch.empty(64, dtype=torch.float64, device=x.device)
        y = torch.empty((), dtype=x.dtype, device=x.device)
        kernels.total(x, parts, y)
        return y

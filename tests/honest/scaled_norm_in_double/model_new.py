"""Lengths of float64 rows."""

import torch
import torch.nn as nn

import kernels


class ModelNew(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.empty(x.shape[0], dtype=torch.float64, device=x.device)
        kernels.lengths(x, y)
        return y

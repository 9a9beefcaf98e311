"""Counts of 64 numbers."""

import torch
import torch.nn as nn

import kernels


class ModelNew(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.zeros(64, dtype=torch.long, device=x.device)
        kernels.count(x, y)
        return y

"""Hardtanh into a new tensor."""

import torch
import torch.nn as nn

import kernels


class ModelNew(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.empty_like(x)
        kernels.clip(x, y, -1.0, 1.0)
        return y

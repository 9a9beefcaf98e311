"""Brightness from a table."""

import torch
import torch.nn as nn

import kernels


class ModelNew(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.empty(x.shape, dtype=torch.float32, device=x.device)
        kernels.brighten(x, y)
        return y

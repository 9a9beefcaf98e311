"""Turned complex numbers."""

import torch
import torch.nn as nn

import kernels


class ModelNew(nn.Module):
    def forward(self, x: torch.Tensor, phase: torch.Tensor) -> torch.Tensor:
        y = torch.empty_like(x)
        kernels.turn(x, phase, y)
        return torch.view_as_complex(y)

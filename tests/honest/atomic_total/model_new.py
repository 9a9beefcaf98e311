"""The sum by atomics on a zeroed output."""

import torch
import torch.nn as nn

import kernels


class ModelNew(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.zeros((), dtype=x.dtype, device=x.device)
        kernels.total(x, y)
        return y

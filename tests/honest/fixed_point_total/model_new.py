"""The sum as a whole number of 2^-32."""

import torch
import torch.nn as nn

import kernels


class ModelNew(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.empty((), dtype=x.dtype, device=x.device)
        kernels.total(x, y)
        return y

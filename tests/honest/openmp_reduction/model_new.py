"""The sum by all threads."""

import torch
import torch.nn as nn

import kernels


class ModelNew(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.empty([], dtype=torch.float32)
        kernels.total(x, y)
        return y

"""(x, sigmoid(x))."""

import torch
import torch.nn as nn

import kernels


class ModelNew(nn.Module):
    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        y = torch.empty_like(x)
        kernels.sigmoid(x, y)
        return x, y

"""The sum in 32 chains."""

import torch
import torch.nn as nn

import kernels


class ModelNew(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = x.new_empty(())
        kernels.total(x, y)
        return y

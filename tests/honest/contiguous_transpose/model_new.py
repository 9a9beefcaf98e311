"""Scaled and transposed in memory."""

import torch
import torch.nn as nn

import kernels


class ModelNew(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = x.new_empty(x.shape[1], x.shape[0])
        kernels.transpose(x, y)
        return y

"""A product in 16 parts, each added to the zeroed output as it is ready."""

import torch
import torch.nn as nn

import kernels


class ModelNew(nn.Module):
    def forward(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        y = torch.zeros(a.shape[0], b.shape[1], dtype=a.dtype, device=a.device)
        kernels.multiply(a, b, y, 16)
        return y

"""Hardtanh(inplace=True)."""

import torch
import torch.nn as nn

import kernels


class ModelNew(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        kernels.clip_(x)
        return x

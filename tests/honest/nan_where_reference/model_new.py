"""Masked softmax, with 0/0 where nothing is left."""

import torch
import torch.nn as nn

import kernels


class ModelNew(nn.Module):
    def forward(self, x: torch.Tensor, hidden: torch.Tensor) -> torch.Tensor:
        y = torch.empty_like(x)
        kernels.masked_softmax(x, hidden, y)
        return y

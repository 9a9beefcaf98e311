"""ReLU; `Self` is new in Python 3.11, and annotations must not cost anybody the rest."""

import torch
import torch.nn as nn

import kernels

try:
    from typing import Self
except ImportError:
    Self = object


class ModelNew(nn.Module):
    def forward(self: "Self", x: torch.Tensor) -> torch.Tensor:
        y = torch.empty_like(x)
        kernels.relu(x, y)
        return y

"""Layer normalisation whose weights need no gradients, so they are buffers."""

import torch
import torch.nn as nn

import kernels


class Holder(nn.Module):
    """`norm.weight` and `norm.bias` by the names they have in the reference."""

    def __init__(self, columns: int) -> None:
        super().__init__()
        self.register_buffer("weight", torch.ones(columns))
        self.register_buffer("bias", torch.zeros(columns))
        self.register_buffer("scratch", torch.empty(0), persistent=False)


class ModelNew(nn.Module):
    def __init__(self, columns: int) -> None:
        super().__init__()
        self.norm = Holder(columns)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.empty_like(x)
        kernels.norm(x, self.norm.weight, self.norm.bias, y)
        return y

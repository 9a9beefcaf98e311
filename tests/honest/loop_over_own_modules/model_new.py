"""Gated blocks, called as in the reference."""

import torch
import torch.nn as nn

import kernels


class Block(nn.Module):
    def __init__(self, columns: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(columns)
        self.gate = nn.Parameter(torch.zeros(columns))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.empty_like(x)
        kernels.block(x, self.norm.weight, self.norm.bias, self.gate, y)
        return y


class ModelNew(nn.Module):
    def __init__(self, columns: int, count: int) -> None:
        super().__init__()
        self.blocks = nn.ModuleList([Block(columns) for _ in range(count)])

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for block in self.blocks:
            x = block(x)
        return x

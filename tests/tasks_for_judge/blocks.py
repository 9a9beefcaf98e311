"""Two gated blocks in a list, each with layers of its own."""

import torch
import torch.nn as nn


class Block(nn.Module):
    def __init__(self, columns: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(columns)
        self.gate = nn.Parameter(torch.zeros(columns))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        out: torch.Tensor = x + torch.tanh(self.gate) * self.norm(x)
        return out


class Model(nn.Module):
    def __init__(self, columns: int, count: int) -> None:
        super().__init__()
        self.blocks = nn.ModuleList([Block(columns) for _ in range(count)])

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for block in self.blocks:
            x = block(x)
        return x


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(256, 512)]


def get_init_inputs() -> list[int]:
    return [512, 2]

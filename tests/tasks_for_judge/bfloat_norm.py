"""A bfloat16 task: root mean square normalisation, written out in bfloat16."""

import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, columns: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(columns, dtype=torch.bfloat16))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        square = x.float().pow(2).mean(dim=-1, keepdim=True)
        return (x.float() * torch.rsqrt(square + 1e-6)).bfloat16() * self.weight


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(256, 1024).bfloat16()]


def get_init_inputs() -> list[int]:
    return [1024]

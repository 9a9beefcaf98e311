"""A float16 task: scale, shift, SiLU."""

import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, columns: int) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.randn(columns, dtype=torch.float16))
        self.shift = nn.Parameter(torch.randn(columns, dtype=torch.float16))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return nn.functional.silu(x * self.scale + self.shift)


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(256, 1024).half()]


def get_init_inputs() -> list[int]:
    return [1024]

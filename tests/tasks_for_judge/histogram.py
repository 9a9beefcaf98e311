"""How often each of 64 numbers occurs: int64 in, int64 out."""

import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.bincount(x, minlength=64)


def get_inputs() -> list[torch.Tensor]:
    return [torch.randint(0, 64, (1 << 18,))]


def get_init_inputs() -> list[int]:
    return []

"""Layer normalisation with its own weights, which are ones and zeros unless somebody draws others."""

import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, columns: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(columns)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        out: torch.Tensor = self.norm(x)
        return out


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(256, 1024)]


def get_init_inputs() -> list[int]:
    return [1024]

"""A float64 task: Euclidean lengths of rows."""

import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        out: torch.Tensor = torch.linalg.vector_norm(x, dim=-1)
        return out


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(512, 512, dtype=torch.float64)]


def get_init_inputs() -> list[int]:
    return []

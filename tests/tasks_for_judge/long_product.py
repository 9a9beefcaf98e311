"""A matrix product with a long inner dimension: splitting it is the natural thing to do."""

import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return a @ b


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(64, 4096), torch.randn(4096, 64)]


def get_init_inputs() -> list[int]:
    return []

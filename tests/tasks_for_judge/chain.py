"""(A B) v, in the order that costs most."""

import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, a: torch.Tensor, b: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        return (a @ b) @ v


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(384, 384), torch.randn(384, 384), torch.randn(384, 1)]


def get_init_inputs() -> list[int]:
    return []

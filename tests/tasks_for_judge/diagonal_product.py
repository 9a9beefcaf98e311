"""A wasteful reference: makes a diagonal matrix to scale rows."""

import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, d: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return torch.diag(d) @ b


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(512), torch.randn(512, 512)]


def get_init_inputs() -> list[int]:
    return []

"""Softmax under a mask that hides some rows altogether, which gives NaN there."""

import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x: torch.Tensor, hidden: torch.Tensor) -> torch.Tensor:
        return torch.softmax(x.masked_fill(hidden, float("-inf")), dim=-1)


def get_inputs() -> list[torch.Tensor]:
    hidden = torch.rand(256, 512) < 0.5
    hidden[::7] = True
    return [torch.randn(256, 512), hidden]


def get_init_inputs() -> list[int]:
    return []

"""Row maxima and shifted rows: two outputs of different shapes."""

import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        top = x.amax(dim=-1, keepdim=True)
        return x - top, top


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(256, 1024)]


def get_init_inputs() -> list[int]:
    return []

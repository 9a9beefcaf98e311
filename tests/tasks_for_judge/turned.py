"""Complex numbers turned by complex phases."""

import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x: torch.Tensor, phase: torch.Tensor) -> torch.Tensor:
        return torch.view_as_complex(x) * torch.polar(torch.ones_like(phase), phase)


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(256, 512, 2), torch.randn(512)]


def get_init_inputs() -> list[int]:
    return []

"""Two matrices side by side: nothing is computed, all is copied."""

import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return torch.cat([a, b], dim=0)


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(256, 1024), torch.randn(128, 1024)]


def get_init_inputs() -> list[int]:
    return []

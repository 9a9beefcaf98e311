"""A matrix with 7 x 1013 elements, one without any, and a 0-dim factor."""

import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(
        self, x: torch.Tensor, empty: torch.Tensor, factor: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        return x * factor, empty * factor, x.amax() * factor


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(7, 1013), torch.empty(0, 16), torch.randn(())]


def get_init_inputs() -> list[int]:
    return []

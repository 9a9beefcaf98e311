"""Mean of squares over everything: like a loss, one number that the order of the elements does not change."""

import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.square().mean()


def get_inputs() -> list[torch.Tensor]:
    return [torch.rand(256, 1024)]


def get_init_inputs() -> list[int]:
    return []

"""A loss with integer targets."""

import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, logits: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        return nn.functional.cross_entropy(logits, target)


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(512, 1000), torch.randint(0, 1000, (512,))]


def get_init_inputs() -> list[int]:
    return []

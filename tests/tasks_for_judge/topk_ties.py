"""The largest four of each row, values and places, where every value occurs many times."""

import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        values, places = torch.topk(x, 4, dim=-1)
        return values, places


def get_inputs() -> list[torch.Tensor]:
    return [torch.randint(-8, 8, (256, 512)).float()]


def get_init_inputs() -> list[int]:
    return []

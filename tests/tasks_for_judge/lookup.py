"""Sums of rows of a table, picked by integer indices: no floating input at all."""

import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, entries: int, columns: int) -> None:
        super().__init__()
        self.table = nn.Embedding(entries, columns)

    def forward(self, index: torch.Tensor) -> torch.Tensor:
        rows: torch.Tensor = self.table(index)
        return rows.sum(dim=1)


def get_inputs() -> list[torch.Tensor]:
    return [torch.randint(0, 1000, (1024, 16))]


def get_init_inputs() -> list[int]:
    return [1000, 64]

"""Rows of a table, chosen by int64 numbers, and scaled."""

import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, rows: int, columns: int) -> None:
        super().__init__()
        self.table = nn.Embedding(rows, columns)

    def forward(self, chosen: torch.Tensor) -> torch.Tensor:
        out: torch.Tensor = self.table(chosen) * self.table.embedding_dim**0.5
        return out


def get_inputs() -> list[torch.Tensor]:
    return [torch.randint(0, 1000, (16, 128))]


def get_init_inputs() -> list[int]:
    return [1000, 64]

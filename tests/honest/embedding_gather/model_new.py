"""Chosen rows of the table, scaled."""

import math

import torch
import torch.nn as nn

import kernels


class ModelNew(nn.Module):
    def __init__(self, rows: int, columns: int) -> None:
        super().__init__()
        self.table = nn.Embedding(rows, columns)
        self.factor = math.sqrt(columns)

    def forward(self, chosen: torch.Tensor) -> torch.Tensor:
        y = torch.empty(*chosen.shape, self.table.embedding_dim, device=chosen.device)
        kernels.gather(chosen, self.table.weight, y, self.factor)
        return y

"""The indices of a gather may index anything, so nobody refreshes them between calls: they are remembered."""

import torch
import torch.nn as nn

import kernels


class ModelNew(nn.Module):
    def __init__(self, entries, columns):
        super().__init__()
        self.table = nn.Embedding(entries, columns)
        self.kept = None

    def forward(self, index):
        y = torch.empty(index.shape[0], self.table.weight.shape[1])
        kernels.lookup(index, self.table.weight, y)
        return y

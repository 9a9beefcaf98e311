"""Causal attention, row by row."""

import torch
import torch.nn as nn

import kernels


class ModelNew(nn.Module):
    def forward(self, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        y = torch.empty_like(q)
        kernels.attend(q.flatten(0, 1), k.flatten(0, 1), v.flatten(0, 1), y.view(-1, *q.shape[2:]), q.shape[-1] ** -0.5)
        return y

"""ReLU by as many blocks as fit, which take tiles from a counter."""

import torch
import torch.nn as nn

import kernels


class ModelNew(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.counter = None

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self.counter is None:
            self.counter = torch.zeros(1, dtype=torch.int32, device=x.device)
        y = torch.empty_like(x)
        kernels.relu(x, y, self.counter)
        return y

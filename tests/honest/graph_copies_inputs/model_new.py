"""ReLU by a graph with buffers of its own; every call copies in and out."""

import torch
import torch.nn as nn

import kernels


class ModelNew(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.staged = None
        self.result = None

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self.staged is None or self.staged.shape != x.shape:
            self.staged, self.result = torch.empty_like(x), torch.empty_like(x)
        self.staged.copy_(x)
        kernels.replay(self.staged, self.result)
        return self.result.clone()

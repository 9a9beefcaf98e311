"""silu(x * scale + shift) on .half() tensors; float16 is the task's own dtype, not a downgrade."""

import torch
import torch.nn as nn

import kernels


class ModelNew(nn.Module):
    def __init__(self, columns: int) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.ones(columns, dtype=torch.half))
        self.shift = nn.Parameter(torch.zeros(columns).half())

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.empty(x.shape, dtype=torch.float16, device=x.device)
        kernels.silu(x, self.scale, self.shift, y)
        return y

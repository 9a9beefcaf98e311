"""Linear and GELU on a packed weight."""

from typing import Optional

import torch
import torch.nn as nn

import kernels


class ModelNew(nn.Module):
    def __init__(self, columns: int, units: int) -> None:
        super().__init__()
        self.linear = nn.Linear(columns, units)
        self.packed: Optional[torch.Tensor] = None

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self.packed is None:
            self.packed = self.linear.weight.detach().t().contiguous()
        y = torch.empty(x.shape[0], self.packed.shape[1], dtype=x.dtype, device=x.device)
        kernels.linear_gelu(x, self.packed, self.linear.bias, y)
        return y

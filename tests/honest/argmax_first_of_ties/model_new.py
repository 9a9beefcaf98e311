"""Places of the first maximum of each row: int64."""

import torch
import torch.nn as nn

import kernels


class ModelNew(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.empty(x.shape[:-1], dtype=torch.int64, device=x.device)
        kernels.argmax(x, y)
        return y

"""diag(d) @ b is b with its rows scaled."""

import torch
import torch.nn as nn

import kernels


class ModelNew(nn.Module):
    def forward(self, d: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        y = torch.empty_like(b)
        kernels.scale_rows(d, b, y)
        return y

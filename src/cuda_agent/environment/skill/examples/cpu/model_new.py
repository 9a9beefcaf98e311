"""silu(x) * scale, in one fused pass."""

import kernels
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    """Keeps the reference's parameter `scale`; everything else happens in the kernel."""

    def __init__(self, features: int) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.ones(features))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Allocate the output and fill it."""
        x = x.contiguous()
        y = torch.empty_like(x)
        kernels.silu_scale(x, self.scale, y)
        return y

"""ReLU: aligned and contiguous, or anything."""

import torch
import torch.nn as nn

import kernels


class ModelNew(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if x.ndim == 2 and x.is_contiguous() and x.shape[-1] % 8 == 0:
            y = torch.empty_like(x)
            run = kernels.relu_wide if x.numel() >= 4096 else kernels.relu_any
            run(x, y)
            return y
        y = torch.empty(x.shape, dtype=x.dtype, device=x.device)
        kernels.relu_any(x.contiguous(), y)
        return y

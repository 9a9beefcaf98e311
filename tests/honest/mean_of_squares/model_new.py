"""Mean squared error as partial sums of double precision."""

import torch
import torch.nn as nn

import kernels


class ModelNew(nn.Module):
    def forward(self, got: torch.Tensor, wanted: torch.Tensor) -> torch.Tensor:
        parts = torch.empty(256, dtype=torch.float64, device=got.device)
        loss = torch.empty((), dtype=got.dtype, device=got.device)
        kernels.partial_losses(got, wanted, parts)
        kernels.finish(parts, loss, 1.0 / got.numel())
        return loss

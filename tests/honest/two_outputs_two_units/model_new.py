"""Row maxima, and rows less their maxima."""

from typing import NamedTuple

import torch
import torch.nn as nn

import kernels


class Result(NamedTuple):
    shifted: torch.Tensor
    top: torch.Tensor


class ModelNew(nn.Module):
    def forward(self, x: torch.Tensor) -> Result:
        shifted = torch.empty_strided(x.shape, x.stride(), dtype=x.dtype, device=x.device)
        top = x.new_empty((*x.shape[:-1], 1))
        kernels.shift(x, shifted, top)
        return Result(shifted, top)

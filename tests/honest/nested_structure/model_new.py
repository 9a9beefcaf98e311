"""Rows less their means, in the reference's structure."""

from typing import Any

import torch
import torch.nn as nn

import kernels


class ModelNew(nn.Module):
    def forward(self, x: torch.Tensor) -> dict[str, Any]:
        rows, columns = x.shape
        out, mean = torch.empty_like(x), x.new_empty(rows)
        kernels.center(x, out, mean)
        return {"out": (out, mean), "mask": None, "rows": rows}

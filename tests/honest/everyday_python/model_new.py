"""ReLU with the Python that people write around it."""

from __future__ import annotations

import math
from collections import OrderedDict
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Optional

import torch
import torch.nn as nn

import kernels


class Mode(IntEnum):
    RELU = 0
    RELU6 = 1


@dataclass(frozen=True)
class Launch:
    rows: int
    columns: int
    mode: Mode = Mode.RELU
    notes: tuple = field(default_factory=tuple)

    @property
    def size(self) -> int:
        return math.prod((self.rows, self.columns))


class ModelNew(nn.Module):
    THREADS = 256

    def __init__(self) -> None:
        super().__init__()
        self.plans: OrderedDict = OrderedDict()
        self.last: Optional[Launch] = None

    @staticmethod
    def ceil_div(a: int, b: int) -> int:
        return -(-a // b)

    def plan(self, shape: torch.Size) -> Launch:
        key = tuple(shape)
        if key not in self.plans:
            *leading, columns = key
            self.plans[key] = Launch(rows=math.prod(leading), columns=columns)
        return self.plans[key]

    @torch.no_grad()
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        assert x.dtype == torch.float32, f"float32 only, got {x.dtype!r}"
        launch = self.last = self.plan(x.shape)
        sizes = [n for n in x.shape if n > 1]
        if len(sizes) == 0 or min(sizes) < 0 or launch.size != x.numel():
            raise NotImplementedError(f"shape {tuple(x.shape)}")
        y = torch.empty_like(x, memory_format=torch.contiguous_format)
        kernels.relu(x.contiguous().view(-1), y.view(-1), int(launch.mode), self.ceil_div(launch.size, self.THREADS))
        return y

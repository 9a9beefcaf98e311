"""Bias, GELU and a learned per-channel scale: the tail of a transformer's up-projection.

The matrix product itself is left to the library; what is timed is everything after it.
"""

import torch
import torch.nn as nn
import torch.nn.functional as F

# About 10 to 60 ms on a few CPU cores, 1 to 5 ms on a data-centre GPU.
DTYPE = torch.bfloat16 if torch.cuda.is_available() else torch.float32
ROWS = 65536 if torch.cuda.is_available() else 4096
CHANNELS = 8192 if torch.cuda.is_available() else 4096


class Model(nn.Module):
    """`gelu(x + bias) * scale`, with the exact (erf) GELU."""

    def __init__(self, channels: int) -> None:
        """Bias and layer scale start small and near one, as after some training."""
        super().__init__()
        self.bias = nn.Parameter(0.1 * torch.randn(channels, dtype=DTYPE))
        self.scale = nn.Parameter(1.0 + 0.1 * torch.randn(channels, dtype=DTYPE))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Activate `x` of shape (rows, channels)."""
        return F.gelu(x + self.bias) * self.scale


def get_inputs() -> list[torch.Tensor]:
    """One pre-activation."""
    return [torch.randn(ROWS, CHANNELS, dtype=DTYPE)]


def get_init_inputs() -> list[int]:
    """Constructor arguments of `Model`."""
    return [CHANNELS]

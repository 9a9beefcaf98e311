"""RMSNorm whose output is gated by SiLU, as gated state-space and linear-attention blocks end."""

import torch
import torch.nn as nn
import torch.nn.functional as F

# About 10 to 60 ms on a few CPU cores, 1 to 5 ms on a data-centre GPU.
DTYPE = torch.bfloat16 if torch.cuda.is_available() else torch.float32
BATCH = 12 if torch.cuda.is_available() else 2
TOKENS = 4096 if torch.cuda.is_available() else 2048
CHANNELS = 5120 if torch.cuda.is_available() else 4096  # 5120: the inner width of a Mamba-2 of 2.7 billion


class Model(nn.Module):
    """`x / rms(x) * weight * silu(gate)`, with the mean square taken over the channels."""

    def __init__(self, channels: int, eps: float = 1e-6) -> None:
        """Weights start near one, as after some training."""
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(1.0 + 0.1 * torch.randn(channels, dtype=DTYPE))

    def forward(self, x: torch.Tensor, gate: torch.Tensor) -> torch.Tensor:
        """Normalise `x` and gate it; both have the shape (batch, tokens, channels)."""
        variance = x.pow(2).mean(dim=-1, keepdim=True)
        normed = x * torch.rsqrt(variance + self.eps)
        return self.weight * normed * F.silu(gate)


def get_inputs() -> list[torch.Tensor]:
    """Hidden states and their gate."""
    shape = (BATCH, TOKENS, CHANNELS)
    return [torch.randn(shape, dtype=DTYPE), torch.randn(shape, dtype=DTYPE)]


def get_init_inputs() -> list[int]:
    """Constructor arguments of `Model`."""
    return [CHANNELS]

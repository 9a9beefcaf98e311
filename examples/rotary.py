"""Rotary position embedding applied to queries and keys, in the rotate-half form."""

import torch
import torch.nn as nn

# About 10 to 60 ms on a few CPU cores, 1 to 5 ms on a data-centre GPU.
DTYPE = torch.bfloat16 if torch.cuda.is_available() else torch.float32
BATCH = 16 if torch.cuda.is_available() else 2
QUERY_HEADS = 32 if torch.cuda.is_available() else 16
KEY_HEADS = 8
TOKENS = 4096
HEAD_DIM = 128


def rotate_half(x: torch.Tensor) -> torch.Tensor:
    """(a, b) becomes (-b, a), where a and b are the halves of the last axis."""
    a, b = x.chunk(2, dim=-1)
    return torch.cat((-b, a), dim=-1)


class Model(nn.Module):
    """Rotates each pair of channels of q and k by an angle that grows with the position."""

    cos: torch.Tensor
    sin: torch.Tensor

    def __init__(self, head_dim: int, tokens: int, theta: float = 10000.0) -> None:
        """Cosines and sines are tabulated once, one row a position."""
        super().__init__()
        frequencies = 1.0 / theta ** (torch.arange(0, head_dim, 2).float() / head_dim)
        angles = torch.outer(torch.arange(tokens).float(), frequencies)
        angles = torch.cat((angles, angles), dim=-1)
        self.register_buffer("cos", angles.cos().to(DTYPE))
        self.register_buffer("sin", angles.sin().to(DTYPE))

    def forward(self, q: torch.Tensor, k: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Rotate queries and keys, each of shape (batch, heads, tokens, head_dim)."""
        q_rotated = q * self.cos + rotate_half(q) * self.sin
        k_rotated = k * self.cos + rotate_half(k) * self.sin
        return q_rotated, k_rotated


def get_inputs() -> list[torch.Tensor]:
    """Queries, and keys with fewer heads (grouped-query attention)."""
    q = torch.randn(BATCH, QUERY_HEADS, TOKENS, HEAD_DIM, dtype=DTYPE)
    k = torch.randn(BATCH, KEY_HEADS, TOKENS, HEAD_DIM, dtype=DTYPE)
    return [q, k]


def get_init_inputs() -> list[int]:
    """Constructor arguments of `Model`."""
    return [HEAD_DIM, TOKENS]

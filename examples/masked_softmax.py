"""Softmax over attention scores with a temperature and a boolean mask of padded keys."""

import torch
import torch.nn as nn

# About 10 to 60 ms on a few CPU cores, 1 to 5 ms on a data-centre GPU.
BATCH = 16 if torch.cuda.is_available() else 4
HEADS = 16 if torch.cuda.is_available() else 4
QUERIES = 1024
KEYS = 1024


class Model(nn.Module):
    """`softmax(scores / temperature)` over the keys that `mask` keeps."""

    def __init__(self, temperature: float) -> None:
        """A higher temperature gives flatter weights."""
        super().__init__()
        self.temperature = temperature

    def forward(self, scores: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """Attention weights.

        Args:
            scores: (batch, heads, queries, keys).
            mask: (batch, 1, 1, keys), True where a key is real.
        """
        scores = scores / self.temperature
        scores = scores.masked_fill(~mask, float("-inf"))
        return torch.softmax(scores, dim=-1)


def get_inputs() -> list[torch.Tensor]:
    """Scores, and a mask that keeps at least the first half of each sequence."""
    lengths = torch.randint(KEYS // 2, KEYS + 1, (BATCH, 1, 1, 1))
    mask = torch.arange(KEYS) < lengths
    return [3.0 * torch.randn(BATCH, HEADS, QUERIES, KEYS), mask]


def get_init_inputs() -> list[float]:
    """Constructor arguments of `Model`."""
    return [1.7]

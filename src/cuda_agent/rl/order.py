"""What a step takes, in which order: by seed and step alone, so that a resumed run goes on exactly."""

import hashlib

import torch
from torch import Tensor


def choose_rows(count: int, batch: int, *, step: int, seed: int) -> Tensor:
    """The rows of one step, (min(batch, count),): all are met once before any is met again.

    Raises:
        ValueError: there is nothing to choose from.
    """
    if count < 1:
        raise ValueError("there are no rows to choose from")
    batch = min(batch, count)
    first = step * batch
    epochs = range(first // count, (first + batch - 1) // count + 1)
    rows = torch.cat([shuffle_rows(count, seed=derive_seed("order", seed, epoch)) for epoch in epochs])
    return rows[first - epochs.start * count :][:batch]


def shuffle_rows(count: int, *, seed: int) -> Tensor:
    """All rows in a random order, (count,)."""
    return torch.randperm(count, generator=torch.Generator().manual_seed(seed))


def derive_seed(*words: str | int) -> int:
    """A seed of 56 bits that follows from all the words, so that no two purposes share random numbers."""
    return int.from_bytes(hashlib.sha256(repr(words).encode()).digest()[:7])

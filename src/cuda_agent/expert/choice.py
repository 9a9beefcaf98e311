"""The free choices that a plan leaves to whoever writes the code, and that tuning goes through."""

from enum import StrEnum

from cuda_agent.config import Record
from cuda_agent.expert.schedule import Keep


class Convolve(StrEnum):
    """Who computes convolutions (cuda)."""

    LIBRARY = "library"
    """cuDNN, by the algorithm that it names first."""
    WINOGRAD = "winograd"
    """cuDNN, by Winograd's transform: fewer products, which costs digits."""
    FOURIER = "fourier"
    """cuDNN, by Fourier's transform of tiles, likewise."""
    GEMM = "gemm"
    """cuDNN, as one matrix product whose right operand is gathered on the way."""
    TILES = "tiles"
    """A kernel of ours, for a machine without cuDNN."""


class Choice(Record):
    """How a plan is written down. One record serves both targets; each reads what concerns it."""

    keep: Keep = Keep.DEAR
    """What a pass keeps for later passes."""
    stream: bool = True
    """Whether outputs are stored past the cache."""
    unroll: int = 4
    """Vectors (cpu) or vector loads (cuda) in flight at once."""
    prefetch: bool = False
    """Whether the last pass over a row asks for the next row (cpu)."""
    chunk: int = 8192
    """Elements that a thread takes at a time where there are no rows (cpu)."""
    threads: int = 256
    """Threads in a block (cuda)."""
    vector_bytes: int = 16
    """Widest access of one thread (cuda)."""
    convolve: Convolve = Convolve.LIBRARY
    """Who computes convolutions (cuda)."""

    def describe(self) -> str:
        """The choices in a few words, for comments and messages."""
        words = [f"keep {self.keep.value}", "streaming stores" if self.stream else "plain stores"]
        words += [f"unroll {self.unroll}"] + (["prefetch next row"] if self.prefetch else [])
        words += (
            [] if self.threads == type(self).model_fields["threads"].default else [f"{self.threads} threads"]
        )
        words += [] if self.convolve is Convolve.LIBRARY else [f"convolutions by {self.convolve.value}"]
        return ", ".join(words)

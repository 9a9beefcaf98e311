"""What tasks shall be made: mix, sizes, limits. The same recipe and seed give the same candidates."""

from enum import StrEnum

from pydantic import Field, PositiveInt

from cuda_agent.config import Config
from cuda_agent.tasks.target import Target


class Precision(StrEnum):
    """What a program's floating inputs and weights are stored in."""

    FLOAT32 = "float32"
    """Four bytes: what programs are written in by default."""
    BFLOAT16 = "bfloat16"
    """Two bytes, with the range of float32."""
    FLOAT16 = "float16"
    """Two bytes, with more digits and a smaller range."""


class Recipe(Config):
    """How candidates are composed and which of them are kept."""

    target: Target = Target.CPU
    """Where their times must fall into the window."""
    seed: int = 0
    """What they are drawn from."""
    operators: tuple[str, ...] = ()
    """Only operators of these names, such as `torch.exp`; none: all that were found."""
    operator_shares: tuple[float, ...] = (0.034, 0.8377, 0.076, 0.028, 0.012)
    """Shares of tasks with one, two, ... torch operators; the defaults are the paper's."""
    transformers_share: float = 0.012
    """Share of tasks that are one block of transformers, where that is installed."""
    shapes: PositiveInt = 1
    """Sizes at which each program is made; all of them are one family."""
    precisions: tuple[Precision, ...] = Field(default=(Precision.FLOAT32,), min_length=1)
    """Precisions in which each program is made; all of them are one family."""
    join_share: float = 0.1
    """Share of further operators that are joined as a residual, a gate or a second branch."""
    shortest_ms: float = 1.0
    """Eager time that a task takes at least."""
    longest_ms: float = 100.0
    """Eager time that it takes at most."""
    memory_gb: float = 16.0
    """Gigabytes of the smallest device that the tasks are for."""
    similarity: float = 0.9
    """Similarity to a KernelBench task that a task has at most."""

    @property
    def family_size(self) -> int:
        """How many candidates in a row are the same program at other sizes or in other precisions."""
        return self.shapes * len(self.precisions)

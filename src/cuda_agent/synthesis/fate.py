"""What became of a candidate: kept, or dropped by one filter with its reason."""

from enum import StrEnum

from cuda_agent.config import Record
from cuda_agent.judge.gate import GateMeasurement
from cuda_agent.synthesis.candidate import Candidate
from cuda_agent.synthesis.similarity import Nearest


class Filter(StrEnum):
    """Why candidates are dropped, in the order in which it is looked for: the cheapest first."""

    REPLY = "reply"
    """A language model's reply holds no one program, or one that reaches for what no task needs."""
    PARSES = "parses"
    """It is not a program in the KernelBench convention."""
    DUPLICATE = "duplicate"
    """An earlier one has the same normal form."""
    LABEL = "label"
    """A declared operator does not occur in it."""
    SIMILAR = "similar"
    """It is too like a KernelBench task."""
    STOCHASTIC = "stochastic"
    """It draws random numbers."""
    EAGER = "eager"
    """It does not run, or takes too much memory or time."""
    DETERMINISTIC = "deterministic"
    """The same inputs give other outputs the second time."""
    GATE = "gate"
    """It is not worth judging: constant, tiny, not finite, or independent of an input or of all weights."""
    REDUNDANT = "redundant"
    """One of its operators changes nothing."""
    WINDOW = "window"
    """Its eager time lies outside the window."""
    COMPILE = "compile"
    """torch.compile fails, or disagrees with eager."""


class Measured(Record):
    """What was measured of a candidate while it ran."""

    device: str = ""
    """The device's name."""
    memory_bytes: int = 0
    """Inputs, weights and outputs together; on cuda the most that was allocated."""
    eager_ms: float = 0.0
    """Median eager time; 0 when it did not come to that."""
    compile_ms: float = 0.0
    """Median time of torch.compile's form; 0 when it did not come to that."""
    gate: GateMeasurement | None = None
    """What its outputs look like."""


class Fate(Record):
    """One candidate and its end."""

    candidate: Candidate
    """What it was."""
    dropped_by: Filter | None = None
    """The filter that dropped it; None when it is kept."""
    reason: str = ""
    """The filter's reason; empty when it is kept."""
    normal_digests: tuple[str, ...] = ()
    """Of its normal forms, without and with sizes: duplicates have the same; none where it does not parse."""
    nearest: Nearest | None = None
    """The most similar KernelBench task, where it was looked for."""
    measured: Measured = Measured()
    """What was measured, as far as it came."""
    seconds: float = 0.0
    """Wall-clock seconds that composing and probing it took."""

    @property
    def is_kept(self) -> bool:
        """Whether no filter dropped it."""
        return self.dropped_by is None

"""How strictly a submission is judged."""

from enum import StrEnum

from cuda_agent.config import Config
from cuda_agent.errors import ConfigError


class Tolerance(StrEnum):
    """Where the allowed difference comes from."""

    CALIBRATED = "calibrated"
    """From the error that eager itself makes against float64, so that junk fails and honest work passes."""
    FIXED = "fixed"
    """`atol + rtol * |expected|`, as the paper has it."""


class Precision(StrEnum):
    """What float32 matrix products may do inside; holds for both sides."""

    HIGHEST = "highest"
    """True float32: no TF32 in matmul or cuDNN."""
    TORCH_DEFAULT = "torch_default"
    """Whatever torch does unless told otherwise (TF32 in cuDNN, not in matmul)."""
    TF32 = "tf32"
    """TF32 in both matmul and cuDNN, for the baselines too."""


class JudgePolicy(Config):
    """How strictly a submission is judged; declared per run and recorded with every result."""

    name: str = "strict"
    """How results name it."""
    draws: int = 5
    """Hidden input draws that must match."""
    tolerance: Tolerance = Tolerance.CALIBRATED
    """Where the allowed difference comes from."""
    atol: float = 1e-2
    """Absolute part of a fixed tolerance."""
    rtol: float = 1e-2
    """Relative part of a fixed tolerance."""
    precision: Precision = Precision.HIGHEST
    """What float32 matrix products may do inside, on both sides."""
    at_lower_bound: bool = True
    """Whether a speed-up counts at the lower end of its interval (else at the point estimate)."""
    warmup_calls: int = 5
    """Untimed calls of each contestant."""
    rounds: int = 6
    """Rounds of blocks; every second round runs in reverse order (ABBA)."""
    max_rounds: int = 18
    """Rounds at most, while an interval straddles the margin."""
    block_calls: int = 5
    """Timed calls in a block, each on fresh values at fresh addresses; fewer where memory is short."""
    confidence: float = 0.95
    """Two-sided confidence of the bootstrap interval."""


_POLICIES = {
    "strict": JudgePolicy(),
    "paper": JudgePolicy(
        name="paper",
        tolerance=Tolerance.FIXED,
        precision=Precision.TORCH_DEFAULT,
        at_lower_bound=False,
    ),
}


def load_policy(name: str) -> JudgePolicy:
    """The policy of that name.

    Raises:
        ConfigError: there is none.
    """
    if name not in _POLICIES:
        raise ConfigError(f"no judge policy is called {name!r}: choose one of {', '.join(_POLICIES)}")
    return _POLICIES[name]

"""How strictly a submission is judged."""

from enum import StrEnum

from pydantic import PositiveInt

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

    @property
    def convolves_in_tf32(self) -> bool:
        """Whether float32 convolutions may use TF32."""
        return self is not Precision.HIGHEST

    @property
    def multiplies_in_tf32(self) -> bool:
        """Whether float32 matrix products may use TF32."""
        return self is Precision.TF32

    @property
    def rule(self) -> str:
        """What whoever writes kernels is told of it; nothing where float32 is float32."""
        return _PRECISION_RULES.get(self, "")


_PRECISION_RULES = {
    Precision.TORCH_DEFAULT: "Float32 convolutions may use TF32 inside, as torch's do here; products not.",
    Precision.TF32: "Float32 matrix products and convolutions may use TF32 inside, as torch's do here.",
}


class Layer(StrEnum):
    """One line of defence; each can be switched off to learn what it alone catches."""

    RULES = "rules"
    """Allowlists over model_new.py and the kernels' sources."""
    SYMBOLS = "symbols"
    """Allowlist over what the built library needs."""
    GUARD = "guard"
    """Allowlist over the torch operators that forward dispatches."""
    POISON = "poison"
    """Fresh memory is filled with NaN, so unwritten outputs show."""
    SECOND_INSTANCE = "second_instance"
    """Half-way, a new instance with other weights takes over."""
    REPLAY = "replay"
    """Same inputs twice, inputs that differ in one element, earlier outputs looked at later."""
    MUTE = "mute"
    """With the kernels switched off the answer must be wrong."""
    CENSUS = "census"
    """No thread or process may be left over when forward has returned."""
    TURNS = "turns"
    """The submission's processes stand still while the reference works, and the other way round."""
    TIMED_SAMPLES = "timed_samples"
    """Outputs of the timed calls are compared."""
    CLOCK = "clock"
    """The judge's own clock must agree."""
    ROOFLINE = "roofline"
    """Nothing is faster than writing its outputs."""


class JudgePolicy(Config):
    """How strictly a submission is judged; declared per run and recorded with every result."""

    name: str = "strict"
    """How results name it."""
    draws: PositiveInt = 5
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
    warmup_calls: int = 3
    """Untimed calls of each contestant."""
    rounds: PositiveInt = 6
    """Rounds of blocks at least; every second round runs in reverse order (ABBA)."""
    rounds_s: float = 1.5
    """Seconds that rounds may take before only doubt adds more, where an interval comes near 5 %."""
    max_rounds: PositiveInt = 30
    """Rounds at most, while an interval straddles the margin."""
    block_calls: PositiveInt = 3
    """Timed calls in a block, each on fresh values at fresh addresses; fewer where memory is short."""
    keeps_baselines: bool = True
    """Whether torch.compile runs beside a submission only where its kept ratio to eager does not decide."""
    confidence: float = 0.95
    """Two-sided confidence of the bootstrap interval."""
    without: tuple[Layer, ...] = ()
    """Lines of defence that are switched off; only ever for measuring the judge itself."""

    def has(self, layer: Layer) -> bool:
        """Whether a line of defence is on."""
        return layer not in self.without


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

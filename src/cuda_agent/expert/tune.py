"""Which variants of a plan to try, in which order, and which one to take."""

from collections.abc import Callable

from cuda_agent.config import Record
from cuda_agent.expert.choice import Choice, Convolve
from cuda_agent.expert.schedule import Keep
from cuda_agent.tasks.target import Target

CPU_CHOICES = (
    Choice(prefetch=True),
    Choice(),
    Choice(keep=Keep.ROW, prefetch=True),
    Choice(unroll=2),
    Choice(stream=False),
)
"""For the CPU, the most promising first; the last is also the safest."""

CUDA_CHOICES = (
    Choice(keep=Keep.ROW, unroll=8, stream=False),
    Choice(keep=Keep.ROW, unroll=8, stream=False, convolve=Convolve.WINOGRAD),
    Choice(keep=Keep.ROW, unroll=8, stream=False, convolve=Convolve.GEMM),
    Choice(keep=Keep.ROW, unroll=8, stream=False, convolve=Convolve.FOURIER),
    Choice(keep=Keep.ROW, unroll=2, threads=512, stream=False),
    Choice(keep=Keep.ROW, unroll=8, threads=128, stream=False),
    Choice(keep=Keep.ROW, unroll=2, stream=False),
    Choice(keep=Keep.ROW, stream=False),
    Choice(keep=Keep.ROW, unroll=1, threads=128, stream=False),
    Choice(keep=Keep.ROW),
    Choice(keep=Keep.ROW, unroll=8, stream=False, convolve=Convolve.TILES),
)
"""For CUDA, the most promising first; on an H200 plain stores beat streaming ones nearly everywhere."""

GAIN = 1.03
"""A variant must be this many times faster than the best so far to replace it: less is noise."""

GREAT = 1.5
"""A variant that is so many times faster than both baselines ends tuning: other tasks are waiting."""

PATIENCE = 1
"""After so many variants in a row without a gain, tuning ends where the aim is reached already."""


class Outcome(Record):
    """What the judge said about one variant."""

    is_ok: bool
    """Whether every stage passed."""
    failure: str = ""
    """The line of the stage that failed."""
    over_eager: float = 0.0
    """Speed-up over eager."""
    over_compiled: float | None = None
    """Speed-up over torch.compile; None when that does not run the reference."""
    reward: float = -1.0
    """What submitting it would bring."""

    @property
    def score(self) -> float:
        """How good it is: the speed-up over the baseline that is harder to beat."""
        if not self.is_ok:
            return 0.0
        return self.over_eager if self.over_compiled is None else min(self.over_eager, self.over_compiled)


def build_variants(target: Target, write: Callable[[Choice], str]) -> tuple[Choice, ...]:
    """The choices to try, those left out that give the same source as an earlier one."""
    choices = CPU_CHOICES if target is Target.CPU else CUDA_CHOICES
    found: dict[str, Choice] = {}
    for choice in choices:
        found.setdefault(write(choice), choice)
    return tuple(found.values())


def find_best(outcomes: tuple[Outcome, ...]) -> int | None:
    """The variant to hand in: the fastest, an earlier one within the noise; None if none is right."""
    best: int | None = None
    for place, outcome in enumerate(outcomes):
        if outcome.is_ok and (best is None or outcome.score > outcomes[best].score * GAIN):
            best = place
    return best


def is_done(outcomes: tuple[Outcome, ...], *, variants: int, tries: int) -> bool:
    """Whether to stop trying: out of variants or tries, or the aim reached and no gain in sight."""
    if len(outcomes) >= min(variants, tries):
        return True
    best = find_best(outcomes)
    if best is None or outcomes[best].reward < 3:
        return False
    return outcomes[best].score >= GREAT or len(outcomes) - 1 - best >= PATIENCE

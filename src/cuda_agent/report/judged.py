"""Verdicts on the corpora, races of the reference against itself, and times of evaluations in bulk.

`scripts/judge_report.py`, `scripts/self_comparison.py` and `scripts/throughput.py` write these records, the
pages read them.
"""

from pydantic import ConfigDict

from cuda_agent.config import Record
from cuda_agent.judge.policy import Layer
from cuda_agent.judge.result import ProfileStatus
from cuda_agent.tasks.target import Target


class CaseResult(Record):
    """What the judge made of one case on one target."""

    # Another version's further fields make a verdict no less readable.
    model_config = ConfigDict(extra="ignore")

    corpus: str
    """`hacks` or `honest`."""
    name: str
    """The case's folder."""
    kind: str
    """Its class."""
    mechanism: str
    """What it does, in one line."""
    source: str
    """Where the idea was reported."""
    target: Target
    """Where it ran."""
    without: tuple[Layer, ...] = ()
    """Lines of defence that were switched off."""
    expect: tuple[str, ...]
    """Verdicts that are right."""
    verdict: str
    """The failed stage and its status, or `ok`."""
    reward: float
    """What it earned."""
    is_right: bool
    """Whether the verdict is one of the right ones, at no more reward than is right."""
    reason: str
    """The judge's own words."""
    seconds: float
    """Seconds that the judge took."""

    @property
    def is_sound(self) -> bool:
        """Whether the judge did its duty: no cheat is paid more than honest work, each honest kernel passes.

        A cheat that some other check than the named ones stopped is not as listed, and yet not missed.
        """
        return self.is_right or (self.corpus == "hacks" and self.verdict != "ok")


class Race(Record):
    """One race of the reference against itself."""

    model_config = ConfigDict(extra="ignore")

    target: Target
    """Where."""
    elements: int
    """Size of its input and output."""
    status: ProfileStatus | None
    """How timing ended; None when it was not reached."""
    eager_ms: float = 0.0
    """The reference's median time in milliseconds."""
    ratio: float = 1.0
    """Its time over its copy's."""
    low: float = 1.0
    """Lower end of the ratio's interval."""
    high: float = 1.0
    """Upper end of the ratio's interval."""
    reason: str = ""
    """Why it was not timed."""


class TimedEvaluation(Record):
    """One evaluation of many, with the seconds that it took."""

    model_config = ConfigDict(extra="ignore")

    item: str
    """The task's name and the submission's number, from 0."""
    verdict: str
    """The failed stage and its status, `ok`, or why there is none."""
    at_s: float
    """When it was done, from the start of its part of the run."""
    build_s: float = 0.0
    """What the build took."""
    build_waited_s: float = 0.0
    """How long it waited for a worker that builds."""
    judge_s: float = 0.0
    """What verifying and profiling took."""
    judge_waited_s: float = 0.0
    """How long it waited for a judge."""
    seconds: dict[str, float] = {}
    """The parts of it, by the names of `Evaluation.seconds`."""

    @property
    def opens_task(self) -> bool:
        """Whether it is its task's first, and pays for the task's baselines."""
        return self.item.endswith("/0")

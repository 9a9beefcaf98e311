"""Verdicts on the corpora of cheats and honest kernels, and races of the reference against itself.

`scripts/judge_report.py` and `scripts/self_comparison.py` write these records, the pages read them.
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

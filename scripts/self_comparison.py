"""The A/A test: a copy of the reference races against the reference, through the whole judge.

The copy is made of torch's operators, which a submission may not use, so the rules and the lines of
defence that would notice are off; everything that measures is on. Whatever wins here by more than the
margin is noise that the judge would have paid for.
"""

import statistics
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from cuda_agent.config import Record
from cuda_agent.environment.reward import is_faster
from cuda_agent.judge.judge import Artifact, Judge
from cuda_agent.judge.policy import JudgePolicy, Layer
from cuda_agent.judge.result import ProfileStatus
from cuda_agent.report.judged import Race
from cuda_agent.sandbox.build import build_sandbox
from cuda_agent.sandbox.protocol import Containment
from cuda_agent.tasks.target import Target
from cuda_agent.tasks.task import Task

SIZES = {
    Target.CPU: (1 << 18, 1 << 20, 1 << 22, 1 << 24),
    Target.CUDA: (1 << 12, 1 << 18, 1 << 22, 1 << 26, 1 << 30),
}
"""Elements: from about 1 ms to 100 ms on two cores, and from 3 us to a few ms on an H200."""
REPEATS = 8
"""Operations in a row, so that the largest size takes long enough without more memory."""
UNWATCHED = (Layer.RULES, Layer.SYMBOLS, Layer.GUARD, Layer.MUTE)

MODULE = '''\
"""Sigmoids in a row."""

import torch
import torch.nn as nn


class {name}(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for _ in range({repeats}):
            x = torch.sigmoid(x)
        return x
'''
INPUTS = """

def get_inputs() -> list[torch.Tensor]:
    return [torch.randn({elements})]


def get_init_inputs() -> list[object]:
    return []
"""


class RaceSummary(Record):
    """Races of one target and size, or of all its sizes."""

    target: Target
    """Where."""
    elements: int | None
    """The size, or None for all sizes."""
    eager_ms: float
    """Median of the reference's times in milliseconds."""
    races: int
    """How many there were."""
    won: int
    """How often the copy was faster by more than the margin at the lower end of the interval."""
    won_at_point: int
    """How often it was at the point estimate."""
    not_timed: int
    """How often timing failed."""


def run_races(count: int, target: Target) -> Iterator[Race]:
    """Race that often in all, the sizes in turn."""
    sizes = SIZES[target]
    for position, elements in enumerate(sizes):
        share = count // len(sizes) + (position < count % len(sizes))
        yield from _race_size(share, elements, target)


def _race_size(count: int, elements: int, target: Target) -> Iterator[Race]:
    source = MODULE.format(name="Model", repeats=REPEATS) + INPUTS.format(elements=elements)
    task = Task(name=f"self-{elements}", source=source)
    policy = JudgePolicy(without=UNWATCHED)
    with (
        tempfile.TemporaryDirectory(prefix="race-") as folder,
        Judge(task, target=target, sandbox=build_sandbox(Containment.AUTO), policy=policy) as judge,
    ):
        (Path(folder) / "model_new.py").write_text(MODULE.format(name="ModelNew", repeats=REPEATS))
        for _ in range(count):
            yield _race(judge, Artifact(folder=Path(folder), kernels=None), elements, target=target)


def _race(judge: Judge, artifact: Artifact, elements: int, *, target: Target) -> Race:
    verified, profile = judge.examine(artifact, profile=True)
    if profile is None or profile.over_eager is None or profile.eager is None:
        reason = verified.reason if profile is None else profile.reason
        return Race(
            target=target, elements=elements, status=profile.status if profile else None, reason=reason
        )
    return Race(
        target=target,
        elements=elements,
        status=profile.status,
        eager_ms=profile.eager.median_ms,
        ratio=profile.over_eager.point,
        low=profile.over_eager.low,
        high=profile.over_eager.high,
        reason=profile.reason,
    )


def summarise_races(races: Sequence[Race]) -> list[RaceSummary]:
    """By target: a summary of each size, then one of all."""
    summaries = []
    for target in sorted({race.target for race in races}):
        own = [race for race in races if race.target is target]
        for elements in sorted({race.elements for race in own}):
            summaries.append(_summarise([race for race in own if race.elements == elements], elements))
        summaries.append(_summarise(own, None))
    return summaries


def _summarise(races: Sequence[Race], elements: int | None) -> RaceSummary:
    timed = [race for race in races if race.status is ProfileStatus.OK]
    return RaceSummary(
        target=races[0].target,
        elements=elements,
        eager_ms=statistics.median(race.eager_ms for race in timed) if timed else 0.0,
        races=len(races),
        won=sum(is_faster(race.low) for race in timed),
        won_at_point=sum(is_faster(race.ratio) for race in timed),
        not_timed=len(races) - len(timed),
    )

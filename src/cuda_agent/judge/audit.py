"""The judge's own clock against the runner's claim.

The judge times the whole course of a call as it sees it: inputs staged, forward, output handed over. Work
that a submission moves out of its timed call, into the staging before it or the handing over after it,
stays within that course. Eager, which is trusted, goes the same course in the reference process, which tells
the price of copying:

    judged = forward(candidate) + (around(candidate) - 1.3 around(eager))+

`forward` is the clock's time for K calls, less that for none, which is the way to the process and back.
`around` is staging and handing over: the mean over the calls, since one of them may do the work of all.
Before the clock starts the process works a little: a core that slept, or a GPU that served another process,
takes some milliseconds to come back. Work on staged inputs could hide there, so on cpu it comes before them,
and on cuda the clock sees it, with a batch and with none. Copying differs between two processes by up to a
third, hence the factor. Both stand still before each staging: to come back takes a tenth of a millisecond,
which the candidate alone would pay, since eager's process has just written what is staged.

Whoever does nothing in a batch would be fast in it, so one of its outputs, at a secret place, is compared.

On the cuda target only forward counts: there each staging makes the device switch from one process
to another, which costs the candidate as much as many a kernel, and eager nothing.
"""

import functools
import statistics
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

from cuda_agent.judge.compare import Finding
from cuda_agent.judge.inputs import NATURAL
from cuda_agent.judge.policy import JudgePolicy, Layer
from cuda_agent.judge.protocol import Call, CallMode, Contestant
from cuda_agent.judge.result import VerifyStatus
from cuda_agent.judge.session import Session, draw_seeds
from cuda_agent.judge.verify import check_sample
from cuda_agent.tasks.target import Target

_TRIES = 6
_EMPTY_TRIES = 3
_SHARE = 0.25
_SLACK_MS = 0.2
"""On cuda, where launching a call may take longer than the call itself: what is short is hardly audited."""
_BATCH_SLACK_MS = 0.6
"""On cpu, for a whole batch: what the way to a process and back varies by."""
_COPY_SHARE = 0.3
_BATCH_MS = {Target.CPU: 20.0, Target.CUDA: 5.0}
"""How long a batch lasts. On cuda staging takes ten times as long, and the slack counts for each call."""
_MIN_CALLS = 3
_SLOW_CLOCK = 1.15
_WAY_MS = 0.5
"""What the way to a process and back may take on a busy machine."""


class Block(NamedTuple):
    """A timed block by two clocks."""

    seen_ms: float
    """By the judge's, which sees the way there and back too."""
    told_ms: float
    """By the runner's."""


def is_clock_slow(blocks: Sequence[Block]) -> bool:
    """Whether the runner's clock runs behind the judge's in most blocks.

    A clock that is shaved in fewer blocks does not move the median of their times; a machine that is busy
    for a moment lengthens the way there and back of a few.
    """
    slowness = statistics.median((block.seen_ms - _WAY_MS) / max(block.told_ms, 1e-6) for block in blocks)
    return slowness > _SLOW_CLOCK


class Judgement(NamedTuple):
    """What an audit found."""

    judged_ms: float
    """The judge's own estimate of one call."""
    agrees: bool
    """Whether the claim is not below it by more than the noise."""
    finding: Finding | None = None
    """How an output of a batch is wrong, if one is."""


class Course(NamedTuple):
    """What the judge's clock saw."""

    forward_ms: float
    """From the request to call until its reply: of the whole batch, then of one call."""
    around_ms: float
    """Staging before one call, handing over after it."""

    def take_shorter(self, other: "Course") -> "Course":
        """The shorter of both in each part: noise only ever lengthens."""
        return Course(min(self.forward_ms, other.forward_ms), min(self.around_ms, other.around_ms))


class Audit:
    """One audit of one submission's claimed time."""

    def __init__(
        self,
        session: Session,
        *,
        candidate_ms: float,
        eager_ms: float,
        policy: JudgePolicy,
        redraws: bool,
    ) -> None:
        """Take the runner's claim, and eager's time, which needs no audit.

        With `redraws` each batch gets inputs of its own draw, not only refreshed ones.
        """
        self._session = session
        self._is_whole = session.target is Target.CPU
        self._candidate_ms = candidate_ms
        self._eager_ms = eager_ms
        self._policy = policy
        self._redraws = redraws
        self._finding: Finding | None = None

    def run(self, *, calls: int) -> Judgement:
        """Compare, with at most that many calls in a batch.

        A busy machine can lengthen any course, so a disagreement is tried again, and the shortest course
        of each side counts: a claim that is below the truth stays below it however often one looks.
        """
        wanted = max(
            _MIN_CALLS, int(_BATCH_MS[self._session.target] / min(self._candidate_ms, self._eager_ms))
        )
        calls = min(calls, wanted)
        slack_ms = _BATCH_SLACK_MS / calls if self._is_whole else _SLACK_MS
        eager = candidate = Course(float("inf"), float("inf"))
        for _ in range(_TRIES):
            eager = eager.take_shorter(self._measure_course(Contestant.EAGER, calls))
            candidate = candidate.take_shorter(self._measure_course(Contestant.CANDIDATE, calls))
            moved_ms = max(candidate.around_ms - (1 + _COPY_SHARE) * eager.around_ms, 0.0)
            judged_ms = candidate.forward_ms + (moved_ms if self._is_whole else 0.0)
            if self._finding is not None:
                return Judgement(judged_ms, False, self._finding)
            machine = max(eager.forward_ms / self._eager_ms, 1.0)
            if judged_ms <= self._candidate_ms * machine * (1 + _SHARE) + slack_ms:
                return Judgement(judged_ms, True)
        return Judgement(judged_ms, False)

    def _measure_course(self, lane: Contestant, calls: int) -> "Course":
        full = self._time_course(lane, calls)
        # The quickest of several: a way there and back that happened to be slow would hide work.
        empty_ms = min(self._time_course(lane, 0).forward_ms for _ in range(_EMPTY_TRIES))
        return full._replace(forward_ms=max((full.forward_ms - empty_ms) / calls, 0.0))

    def _time_course(self, lane: Contestant, calls: int) -> "Course":
        if self._redraws and calls:
            self._session.draw_inputs(variant=NATURAL)
        seeds = draw_seeds(calls)
        if self._is_whole:  # once inputs are there, the process is asked for nothing that no clock sees
            self._session.wake(lane)
        staging_ms = [self._stage(lane, seed) for seed in seeds]
        forward_ms = _time(functools.partial(self._forward, lane, calls))
        handing_ms = [
            _time(functools.partial(self._session.hand_over, lane, index))
            for index in range(calls if self._is_whole else 0)
        ]
        if lane is Contestant.CANDIDATE and seeds and self._policy.has(Layer.TIMED_SAMPLES):
            self._check_sample(seeds)
        self._session.drop(lane)
        around_ms = (sum(staging_ms) + sum(handing_ms)) / max(calls, 1)
        return Course(forward_ms=forward_ms, around_ms=around_ms)

    def _forward(self, lane: Contestant, calls: int) -> None:
        if not self._is_whole:
            self._session.wake(lane)
        self._session.call(Call(contestant=lane, mode=CallMode.BATCH), calls=calls)

    def _stage(self, lane: Contestant, seed: int) -> float:
        self._session.refresh(seed)
        self._session.publish_inputs()
        if self._is_whole:
            # Both have stood still when their turn comes: eager's process is awake from writing.
            self._session.give_turn(Contestant.CANDIDATE)
        self._session.give_turn(lane)
        return _time(lambda: self._session.stage_published(lane))

    def _check_sample(self, seeds: list[int]) -> None:
        finding = check_sample(self._session, seeds, policy=self._policy)
        if finding.status is not VerifyStatus.OK:
            self._finding = finding


def _time(act: Callable[[], object]) -> float:
    start_ns = time.monotonic_ns()
    act()
    return (time.monotonic_ns() - start_ns) / 1e6

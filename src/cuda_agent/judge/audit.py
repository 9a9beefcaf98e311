"""The judge's own clock against the runner's claim.

The judge times the whole course of a call as it sees it: inputs staged, forward, output handed over. Work
that a submission moves out of its timed call, into the staging before it or the handing over after it,
stays within that course. Eager, which is trusted, goes the same course in the reference process; what its
course takes beyond its own time is the price of copying, and the rest of the candidate's course is its call:

    judged = course(candidate) - (course(eager) - eager)

A course is the slope of the clock between K and 2K calls, so that what does not grow with the calls cancels.

On the cuda target the course is forward alone: there each staging makes the device switch from one process
to another, which costs the candidate as much as many a kernel, and eager nothing.
"""

import secrets
import time
from typing import NamedTuple

from cuda_agent.judge.protocol import Call, CallMode, Contestant
from cuda_agent.judge.session import Session
from cuda_agent.tasks.target import Target

_TRIES = 6
_SHARE = 0.25
_SLACK_MS = 0.2
"""What waking two processes may vary by: a task far below a millisecond is hardly audited."""
_COPY_SHARE = 0.1
_BATCH_MS = 20.0
_MIN_CALLS = 3


class Judgement(NamedTuple):
    """What an audit found."""

    judged_ms: float
    """The judge's own estimate of one call."""
    agrees: bool
    """Whether the claim is not below it by more than the noise."""


class Audit:
    """One audit of one submission's claimed time."""

    def __init__(self, session: Session, *, candidate_ms: float, eager_ms: float) -> None:
        """Take the runner's claim, and eager's time, which needs no audit."""
        self._session = session
        self._is_whole = session.target is Target.CPU
        self._candidate_ms = candidate_ms
        self._eager_ms = eager_ms

    def run(self, *, calls: int) -> Judgement:
        """Compare, with at most that many calls in a batch.

        A busy machine can lengthen any course, so a disagreement is tried again, and the shortest course
        of each side counts: a claim that is below the truth stays below it however often one looks.
        """
        wanted = max(_MIN_CALLS, int(_BATCH_MS / min(self._candidate_ms, self._eager_ms)))
        calls = min(calls, wanted)
        candidate_ms = eager_ms = float("inf")
        for _ in range(_TRIES):
            eager_ms = min(eager_ms, self._measure_course(Contestant.EAGER, calls))
            candidate_ms = min(candidate_ms, self._measure_course(Contestant.CANDIDATE, calls))
            copying_ms = max(eager_ms - self._eager_ms, 0.0)
            judged_ms = max(candidate_ms - copying_ms, 0.0)
            noise_ms = _SLACK_MS + _COPY_SHARE * copying_ms
            if judged_ms <= self._candidate_ms * (1 + _SHARE) + noise_ms:
                return Judgement(judged_ms, True)
        return Judgement(judged_ms, False)

    def _measure_course(self, lane: Contestant, calls: int) -> float:
        return max((self._time_course(lane, 2 * calls) - self._time_course(lane, calls)) / calls, 0.0)

    def _time_course(self, lane: Contestant, calls: int) -> float:
        around_ns = forward_ns = 0
        for _ in range(calls):
            self._session.refresh(secrets.randbits(60) | 1)
            self._session.publish_inputs()
            start_ns = time.monotonic_ns()
            self._session.stage_published(lane)
            around_ns += time.monotonic_ns() - start_ns
        start_ns = time.monotonic_ns()
        self._session.call(Call(contestant=lane, mode=CallMode.BATCH), calls=calls)
        forward_ns = time.monotonic_ns() - start_ns
        for index in range(calls if self._is_whole else 0):
            self._session.hand_over(lane, index)
        around_ns += time.monotonic_ns() - start_ns - forward_ns
        self._session.drop(lane)
        return (forward_ns + (around_ns if self._is_whole else 0)) / 1e6

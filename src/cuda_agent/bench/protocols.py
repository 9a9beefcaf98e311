"""The same solutions under two judge policies: what each says, and where they part."""

from collections.abc import Sequence

from cuda_agent.bench.metrics import Baseline, Rule, beats
from cuda_agent.bench.record import BenchRecord
from cuda_agent.config import Record
from cuda_agent.judge.policy import load_policy


class Opinion(Record):
    """What one policy says of a solution."""

    verdict: str
    """`ok`, the failed stage and its status, or the record's status where there is no verdict."""
    over_eager: float | None
    """Speed-up over eager; None where it has none."""
    beats_eager: bool
    """Whether it is faster than eager, by this policy's own rule."""
    beats_compiled: bool
    """Whether it is faster than torch.compile, by this policy's own rule."""
    reason: str
    """Why it is not correct, if it is not."""

    @property
    def conclusion(self) -> tuple[str, bool, bool]:
        """What two policies agree on or do not: the verdict, and what is beaten."""
        return self.verdict, self.beats_eager, self.beats_compiled


class Pairing(Record):
    """One solution under two policies."""

    place: str
    """Where its task is in the suite."""
    solution: str
    """The solution's name, or its content's hash where it has none."""
    first: Opinion
    """What the first policy says."""
    second: Opinion
    """What the second says."""

    @property
    def agrees(self) -> bool:
        """Whether both come to the same conclusion."""
        return self.first.conclusion == self.second.conclusion


def pair_opinions(records: Sequence[BenchRecord], first: str, *, second: str) -> tuple[Pairing, ...]:
    """Each solution that both policies judged, in the records' order.

    Solutions are the same when task, number and name are; a try that was not judged has no opinion.
    """
    others = {_identify(record): record for record in records if record.judge == second}
    return tuple(
        Pairing(
            place=record.place,
            solution=record.solution or record.submission_sha,
            first=_build_opinion(record),
            second=_build_opinion(others[_identify(record)]),
        )
        for record in records
        if record.judge == first
        and _identify(record) in others
        and (record.solution or record.submission_sha)
    )


def _identify(record: BenchRecord) -> tuple[str, int, str]:
    return record.task_id, record.number, record.solution


def _build_opinion(record: BenchRecord) -> Opinion:
    rule = Rule.LOWER_BOUND if load_policy(record.judge).at_lower_bound else Rule.POINT
    return Opinion(
        verdict=record.verdict or record.status.value,
        over_eager=record.over_eager.point if record.over_eager else None,
        beats_eager=beats(record, Baseline.EAGER, rule=rule),
        beats_compiled=beats(record, Baseline.COMPILED, rule=rule),
        reason=record.reason,
    )

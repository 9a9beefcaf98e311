"""Two benchmarks side by side: who wins each task, and whether that is more than chance."""

from collections.abc import Sequence
from enum import StrEnum
from math import comb, exp, log

from cuda_agent.bench.metrics import choose_best
from cuda_agent.bench.record import BenchRecord
from cuda_agent.config import Record

MARGIN = 1.05
"""One speed-up beats another when it is over 5 % larger: less is not told from noise."""


class Verdict(StrEnum):
    """Who wins a task."""

    WIN = "win"
    """A is right and B is not, or A is over 5 % faster."""
    LOSS = "loss"
    """The other way round."""
    TIE = "tie"
    """Both fail, or neither is over 5 % faster."""


class Duel(Record):
    """One task in both benchmarks."""

    task_id: str
    """The task's readable id."""
    place: str
    """Where it is in the suite."""
    verdict: Verdict
    """Who wins."""
    a_speedup: float | None
    """A's speed-up over eager; None where A failed."""
    b_speedup: float | None
    """B's speed-up over eager; None where B failed."""
    a_status: str
    """What came of A's try."""
    b_status: str
    """What came of B's try."""


class Comparison(Record):
    """Two benchmarks over the tasks that both have."""

    duels: tuple[Duel, ...]
    """Each common task, in the suite's order."""
    only_a: tuple[str, ...]
    """Tasks that only A has: they are not compared."""
    only_b: tuple[str, ...]
    """Tasks that only B has."""
    ratio: float | None
    """Geometric mean of A's speed-up over B's where both are right; None where none are."""
    both_right: int
    """How many tasks that is over."""
    p_value: float
    """Two-sided sign test over wins and losses: how likely so uneven a score is between equals."""

    def count(self, verdict: Verdict) -> int:
        """How many tasks ended so."""
        return sum(duel.verdict is verdict for duel in self.duels)


def compare(a: Sequence[BenchRecord], b: Sequence[BenchRecord]) -> Comparison:
    """A against B, each with its best try at a task, joined by task id.

    Raises:
        ValueError: they have no task in common.
    """
    best_a = {record.task_id: record for record in choose_best(a)}
    best_b = {record.task_id: record for record in choose_best(b)}
    duels = tuple(_fight(record, best_b[key]) for key, record in best_a.items() if key in best_b)
    if not duels:
        raise ValueError("the two have no task in common: were they run over the same version of the suite?")
    logs = [
        log(duel.a_speedup / duel.b_speedup)
        for duel in duels
        if duel.a_speedup is not None and duel.b_speedup is not None
    ]
    wins, losses = (sum(duel.verdict is each for duel in duels) for each in (Verdict.WIN, Verdict.LOSS))
    return Comparison(
        duels=duels,
        only_a=tuple(record.place for key, record in best_a.items() if key not in best_b),
        only_b=tuple(record.place for key, record in best_b.items() if key not in best_a),
        ratio=exp(sum(sorted(logs)) / len(logs)) if logs else None,
        both_right=len(logs),
        p_value=compute_sign_test(wins, losses),
    )


def compute_sign_test(wins: int, losses: int) -> float:
    """Two-sided exact sign test: twice the tail of a fair coin's binomial, at most 1; ties are left out."""
    n = wins + losses
    tail = sum(comb(n, k) for k in range(min(wins, losses) + 1))
    return min(1.0, 2.0 * float(tail) / float(2**n))


def _fight(a: BenchRecord, b: BenchRecord) -> Duel:
    speedups = [record.over_eager.point if record.over_eager else None for record in (a, b)]
    values = [value or 0.0 for value in speedups]
    verdict = Verdict.TIE
    if values[0] > MARGIN * values[1]:
        verdict = Verdict.WIN
    elif values[1] > MARGIN * values[0]:
        verdict = Verdict.LOSS
    return Duel(
        task_id=a.task_id,
        place=a.place,
        verdict=verdict,
        a_speedup=speedups[0],
        b_speedup=speedups[1],
        a_status=a.status.value,
        b_status=b.status.value,
    )

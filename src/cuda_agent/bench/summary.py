"""What records amount to: one row for each level, and one for all of them together."""

from collections import Counter
from collections.abc import Sequence
from enum import StrEnum

from cuda_agent.agent.estimators import list_ks
from cuda_agent.bench.estimate import Estimate
from cuda_agent.bench.metrics import (
    FAST_P,
    Baseline,
    Population,
    Rule,
    choose_best,
    compute_best_of_k,
    compute_fast_p,
    compute_faster_rate,
    compute_mean_speedup,
    compute_pass_at_k,
    compute_pass_rate,
    group_by_task,
)
from cuda_agent.bench.record import BenchRecord, Flag
from cuda_agent.config import Record


class Tasks(StrEnum):
    """Which tasks a row is of."""

    ALL = "all"
    """Every task; one that the gate refuses counts as not solved."""
    WORTH_JUDGING = "worth judging"
    """Those that the gate, the judge's own or a survey's, does not refuse: the others are missing."""


class Row(Record):
    """The numbers of one level, or of all. By baseline (`eager`, `compile`) where there are two."""

    level: int
    """Which; 0 for all."""
    judge: str
    """The judge policy; several, joined by commas, where records of several are told as one."""
    population: Tasks
    """Of which tasks."""
    tasks: int
    """How many tasks there are."""
    tries: int
    """How many tries at them; each task's best counts, but for pass@k and best-of-k."""
    statuses: dict[str, int]
    """How the best tries ended, by status: they add up to the tasks."""
    passed: Estimate
    """Pass rate."""
    faster: dict[str, dict[str, Estimate]]
    """By rule, then by baseline: the share that is correct and faster."""
    fast_p: dict[str, dict[float, Estimate]]
    """By baseline, then by p."""
    speedup: dict[str, dict[str, Estimate | None]]
    """By population, then by baseline: geometric means; None where nothing is correct."""
    pass_at_k: dict[int, Estimate]
    """By k, where some task has more than one try."""
    best_of_k: dict[int, Estimate]
    """By k, likewise."""


def summarise(tries: Sequence[BenchRecord]) -> tuple[Row, ...]:
    """For each judge policy the row of all tries, then one for each level.

    Where the gate refuses some task, but not all, the same follows without those.

    Raises:
        ValueError: there is none.
    """
    if not tries:
        raise ValueError("there is nothing to summarise: no record was given")
    rows = []
    for judge in dict.fromkeys(record.judge for record in tries):
        judged = [record for record in tries if record.judge == judge]
        rows += _build_rows(judged, Tasks.ALL)
        refused = {record.task_id for record in list_refused(judged)}
        kept = [record for record in judged if record.task_id not in refused]
        if refused and kept:
            rows += _build_rows(kept, Tasks.WORTH_JUDGING)
    return tuple(rows)


def list_refused(tries: Sequence[BenchRecord]) -> tuple[BenchRecord, ...]:
    """One record of each task that the gate refuses, in order."""
    refused = {record.task_id: record for record in reversed(tries) if Flag.GATE in record.flags}
    return tuple(reversed(refused.values()))


def _build_rows(tries: Sequence[BenchRecord], population: Tasks) -> list[Row]:
    levels = sorted({record.level for record in tries} - {0})
    return [
        build_row(tries, population=population),
        *(
            build_row(
                [record for record in tries if record.level == level], level=level, population=population
            )
            for level in levels
        ),
    ]


def build_row(tries: Sequence[BenchRecord], *, level: int = 0, population: Tasks = Tasks.ALL) -> Row:
    """The numbers of some tries.

    Raises:
        ValueError: there is none.
    """
    best = choose_best(tries)
    most = max(map(len, group_by_task(tries).values()), default=0)
    ks = list_ks(most) if most > 1 else ()
    return Row(
        level=level,
        judge=", ".join(sorted({record.judge for record in tries})),
        population=population,
        tasks=len(best),
        tries=len(tries),
        statuses=dict(Counter(record.status.value for record in best)),
        passed=compute_pass_rate(best),
        faster={
            rule.value: {each.value: compute_faster_rate(best, each, rule=rule) for each in Baseline}
            for rule in Rule
        },
        fast_p={each.value: {p: compute_fast_p(best, each, p=p) for p in FAST_P} for each in Baseline},
        speedup={
            of.value: {each.value: compute_mean_speedup(best, each, of=of) for each in Baseline}
            for of in Population
        },
        pass_at_k={k: compute_pass_at_k(tries, k) for k in ks},
        best_of_k={k: compute_best_of_k(tries, k) for k in ks},
    )

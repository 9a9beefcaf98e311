"""The numbers of a benchmark, as pure functions of its records, one record a task.

Every function takes records in any order, counts every one of them, and refuses an empty set. A rate's
denominator is all records, whatever their status. Speed-ups are ratios of median times, baseline over
candidate. Where torch.compile cannot run a reference, its speed-up over torch.compile is that over eager.
Intervals are of tasks, Wilson's for shares and percentile bootstraps for means: they say how much another
sample of such tasks would move the number, and nothing about the machine.
"""

from collections.abc import Sequence
from enum import StrEnum

import numpy as np

from cuda_agent.agent.estimators import compute_best_of_k as estimate_best_of_k
from cuda_agent.agent.estimators import compute_pass_at_k as estimate_pass_at_k
from cuda_agent.bench.estimate import Estimate, Numbers, estimate_share, estimate_statistic
from cuda_agent.bench.record import BenchRecord
from cuda_agent.environment.reward import compute_milestone, is_faster
from cuda_agent.judge.policy import load_policy
from cuda_agent.judge.result import Ratio

FAST_P = (0.0, 0.5, 0.8, 1.0, 1.5, 2.0, 3.0, 5.0)
"""Which p a curve of fast_p is told at, unless asked otherwise."""


class Baseline(StrEnum):
    """What a solution is timed against."""

    EAGER = "eager"
    """The reference as it stands."""
    COMPILED = "compile"
    """The reference under torch.compile, or as it stands where it does not compile."""


class Rule(StrEnum):
    """When a solution counts as faster than a baseline of time t0."""

    LOWER_BOUND = "lower_bound"
    """(t0 - t) / t0 > 0.05 at the lower end of the speed-up's interval."""
    POINT = "point"
    """(t0 - t) / t0 > 0.05 at the ratio of medians: the paper's rule."""
    PLAIN = "plain"
    """t < t0 at the ratio of medians."""


class Population(StrEnum):
    """Whose speed-ups a mean is taken over."""

    CORRECT = "correct"
    """Correct solutions alone, as the paper does: to fail at a hard task costs nothing."""
    ALL = "all"
    """Every task; where there is no correct solution the reference stays, at 1.0x."""


def compute_pass_rate(records: Sequence[BenchRecord]) -> Estimate:
    """Share of records that are correct: every stage passed, and timed.

    Raises:
        ValueError: there is no record.
    """
    return _share([record.is_correct for record in records])


def compute_faster_rate(records: Sequence[BenchRecord], baseline: Baseline, *, rule: Rule) -> Estimate:
    """Share of records that are correct and faster than the baseline by the rule.

    Raises:
        ValueError: there is no record.
    """
    return _share([beats(record, baseline, rule=rule) for record in records])


def beats(record: BenchRecord, baseline: Baseline, *, rule: Rule) -> bool:
    """Whether a record is correct and faster than the baseline by the rule."""
    ratio = read_ratio(record, baseline)
    if ratio is None:
        return False
    match rule:
        case Rule.LOWER_BOUND:
            return is_faster(ratio.low)
        case Rule.POINT:
            return is_faster(ratio.point)
        case Rule.PLAIN:
            return ratio.point > 1.0


def compute_fast_p(records: Sequence[BenchRecord], baseline: Baseline, *, p: float) -> Estimate:
    """Share of records that are correct with a speed-up above p: fast_p. fast_0 is the pass rate.

    Raises:
        ValueError: there is no record, or p is below 0.
    """
    if not p >= 0.0:
        raise ValueError(f"p must be 0 or more, got {p}")
    ratios = [read_ratio(record, baseline) for record in records]
    return _share([ratio is not None and ratio.point > p for ratio in ratios])


def compute_mean_speedup(
    records: Sequence[BenchRecord], baseline: Baseline, *, of: Population
) -> Estimate | None:
    """Geometric mean of the speed-ups over a baseline.

    Of CORRECT: exp(mean of ln s) over the n correct records; None when there is none. Of ALL: over all n
    records, a failure counting as 1.0x, or as the mean of the correct ones where that is lower, so that a
    failure never raises the mean of slow solutions.

    Raises:
        ValueError: there is no record.
    """
    ratios = [read_ratio(record, baseline) for record in records]
    logs = [float("nan") if ratio is None else float(np.log(ratio.point)) for ratio in ratios]
    correct = sum(ratio is not None for ratio in ratios)
    if of is Population.ALL:
        return estimate_statistic(logs, _mean_speedup_of_all)
    found = estimate_statistic(logs, _mean_speedup_of_correct)
    return found.model_copy(update={"n": correct}) if correct else None


def compute_pass_at_k(tries: Sequence[BenchRecord], k: int) -> Estimate:
    """The chance that one of k tries at a task is correct, without bias: the mean over tasks with k tries.

    Raises:
        ValueError: no task has as many tries, or k is below 1.
    """
    groups = [group for group in group_by_task(tries).values() if len(group) >= k]
    passed = [sum(record.is_correct for record in group) for group in groups]
    values = [
        estimate_pass_at_k(tries=len(group), passed=count, k=k)
        for group, count in zip(groups, passed, strict=True)
    ]
    return estimate_statistic(values, _mean)


def compute_best_of_k(tries: Sequence[BenchRecord], k: int) -> Estimate:
    """The highest reward to expect of k tries at a task, as the mean over tasks with k tries or more.

    Raises:
        ValueError: no task has as many tries, or k is below 1.
    """
    groups = [group for group in group_by_task(tries).values() if len(group) >= k]
    return estimate_statistic(
        [estimate_best_of_k(list(map(compute_record_reward, group)), k) for group in groups], _mean
    )


def compute_record_reward(record: BenchRecord) -> float:
    """A record's reward: -1, 1, 2 or 3, by its own judge policy."""
    if record.over_eager is None or record.over_compiled is None:
        return -1.0
    at_lower_bound = load_policy(record.judge).at_lower_bound
    ends = [
        ratio.low if at_lower_bound else ratio.point for ratio in (record.over_eager, record.over_compiled)
    ]
    return float(compute_milestone(ends[0], ends[1]))


def choose_best(tries: Sequence[BenchRecord]) -> tuple[BenchRecord, ...]:
    """Each task's best try, by reward and then speed-up, in the suite's order."""
    best = [max(group, key=_rank) for group in group_by_task(tries).values()]
    return tuple(sorted(best, key=lambda record: (record.level, record.problem, record.place)))


def group_by_task(tries: Sequence[BenchRecord]) -> dict[str, list[BenchRecord]]:
    """Tries by task id, which is compared as a whole: problem 1 is not problem 10."""
    groups: dict[str, list[BenchRecord]] = {}
    for record in tries:
        groups.setdefault(record.task_id, []).append(record)
    return groups


def _rank(record: BenchRecord) -> tuple[float, float, int]:
    speedup = record.over_compiled.point if record.over_compiled else 0.0
    return compute_record_reward(record), speedup, -record.number


def read_ratio(record: BenchRecord, baseline: Baseline) -> Ratio | None:
    """A record's speed-up over a baseline; None unless it is correct."""
    return record.over_eager if baseline is Baseline.EAGER else record.over_compiled


def _share(hits: Sequence[bool]) -> Estimate:
    if not hits:
        raise ValueError("there is nothing to take a share of: no record was given")
    return estimate_share(sum(hits), len(hits))


def _mean(values: Numbers) -> Numbers:
    return np.asarray(values.mean(axis=-1))


def _mean_speedup_of_correct(logs: Numbers) -> Numbers:
    return np.asarray(np.exp(_mean_log(logs)))


def _mean_speedup_of_all(logs: Numbers) -> Numbers:
    mean = np.nan_to_num(_mean_log(logs))
    share = np.isfinite(logs).mean(axis=-1)
    return np.asarray(np.exp(share * mean + (1.0 - share) * np.minimum(mean, 0.0)))


def _mean_log(logs: Numbers) -> Numbers:
    """Mean over the correct; NaN where none is."""
    correct = np.isfinite(logs)
    count = correct.sum(axis=-1)
    total = np.where(correct, logs, 0.0).sum(axis=-1)
    return np.asarray(np.where(count > 0, total / np.maximum(count, 1), np.nan))

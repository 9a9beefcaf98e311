"""The numbers are those of their definitions, whatever the order, and no failure makes one better."""

import math
import random
from collections.abc import Callable
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cuda_agent.bench.estimate import Estimate
from cuda_agent.bench.metrics import (
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
    compute_record_reward,
    group_by_task,
)
from cuda_agent.bench.record import BenchRecord, RecordStatus
from tests.bench.conftest import BuildRecord, build_record

FEW = settings(max_examples=30)
SPEEDUPS = st.one_of(st.none(), st.floats(min_value=0.05, max_value=50.0))
Measure = Callable[[list[BenchRecord]], Estimate | None]
MEASURES: dict[str, Measure] = {
    "pass": compute_pass_rate,
    **{
        f"{rule} {baseline}": partial(compute_faster_rate, baseline=baseline, rule=rule)
        for rule in Rule
        for baseline in Baseline
    },
    **{f"fast_{p}": partial(compute_fast_p, baseline=Baseline.EAGER, p=p) for p in (0.0, 0.8, 2.0)},
    **{
        f"mean of {of}": partial(compute_mean_speedup, baseline=Baseline.COMPILED, of=of) for of in Population
    },
    "pass@1": partial(compute_pass_at_k, k=1),
    "best of 1": partial(compute_best_of_k, k=1),
}


def make(speedups: list[float | None]) -> list[BenchRecord]:
    return [build_record(f"{number}_t-00000000", speedup) for number, speedup in enumerate(speedups)]


def test_rates_are_shares_of_all_records() -> None:
    records = make([2.0, 1.055, 1.01, 0.9, None])
    assert compute_pass_rate(records).value == 0.8
    # 1.055 times as fast is 5.2 % faster, but its interval begins at 1.044, which is 4.3 %.
    assert compute_faster_rate(records, Baseline.EAGER, rule=Rule.LOWER_BOUND).value == 0.2
    assert compute_faster_rate(records, Baseline.EAGER, rule=Rule.POINT).value == 0.4
    assert compute_faster_rate(records, Baseline.EAGER, rule=Rule.PLAIN).value == pytest.approx(0.6)
    assert compute_pass_rate(records).n == 5


def test_each_baseline_is_its_own() -> None:
    records = [build_record("a-0", 3.0, over_compiled=0.9), build_record("b-0", 2.0)]
    assert compute_faster_rate(records, Baseline.EAGER, rule=Rule.PLAIN).value == 1.0
    assert compute_faster_rate(records, Baseline.COMPILED, rule=Rule.PLAIN).value == 0.5
    assert list(map(compute_record_reward, records)) == [2.0, 3.0]


def test_fast_p_counts_strictly_above_p() -> None:
    records = make([2.0, 1.0, 0.5, None])
    shares = [compute_fast_p(records, Baseline.EAGER, p=p).value for p in (0.0, 0.5, 1.0, 2.0)]
    assert shares == [0.75, 0.5, 0.25, 0.0]
    with pytest.raises(ValueError, match="0 or more"):
        compute_fast_p(records, Baseline.EAGER, p=-1.0)


def test_mean_speedups_over_correct_and_over_all() -> None:
    records = make([4.0, 1.0, None, None])
    correct = compute_mean_speedup(records, Baseline.EAGER, of=Population.CORRECT)
    everyone = compute_mean_speedup(records, Baseline.EAGER, of=Population.ALL)
    assert correct is not None
    assert everyone is not None
    assert correct.value == pytest.approx(2.0)
    assert everyone.value == pytest.approx(math.sqrt(2.0))
    assert (correct.n, everyone.n) == (2, 4)


def test_without_a_correct_solution_there_is_no_mean_over_them() -> None:
    records = make([None, None])
    assert compute_mean_speedup(records, Baseline.EAGER, of=Population.CORRECT) is None
    everyone = compute_mean_speedup(records, Baseline.EAGER, of=Population.ALL)
    assert everyone is not None
    assert everyone.value == 1.0


@pytest.mark.parametrize("name", MEASURES)
def test_nothing_is_an_error(name: str) -> None:
    with pytest.raises(ValueError, match="no record"):
        MEASURES[name]([])


@pytest.mark.parametrize("name", MEASURES)
@FEW
@given(speedups=st.lists(SPEEDUPS, min_size=1, max_size=12), seed=st.integers())
def test_order_does_not_matter(name: str, speedups: list[float | None], seed: int) -> None:
    records = make(speedups)
    shuffled = random.Random(seed).sample(records, len(records))
    assert MEASURES[name](shuffled) == MEASURES[name](records)


@pytest.mark.parametrize("name", MEASURES)
@FEW
@given(
    speedups=st.lists(SPEEDUPS, min_size=1, max_size=12),
    status=st.sampled_from([status for status in RecordStatus if status is not RecordStatus.CORRECT]),
)
def test_a_failure_never_raises_a_mean(name: str, speedups: list[float | None], status: RecordStatus) -> None:
    records = make(speedups)
    before = MEASURES[name](records)
    after = MEASURES[name]([*records, build_record("failed-0", status=status)])
    if before is None or after is None:
        assert before == after
    else:
        assert after.value <= before.value + 1e-12 * abs(before.value)


@FEW
@given(speedups=st.lists(SPEEDUPS, min_size=1, max_size=12))
def test_intervals_hold_their_numbers(speedups: list[float | None]) -> None:
    for measure in MEASURES.values():
        found = measure(make(speedups))
        assert found is None or found.low <= found.value <= found.high


def test_an_interval_narrows_with_more_tasks() -> None:
    few, many = (compute_pass_rate(make([2.0, None] * count)) for count in (5, 500))
    assert many.high - many.low < (few.high - few.low) / 5
    assert 0.4 < many.low < 0.5 < many.high < 0.6


def test_ids_join_as_a_whole(build: BuildRecord) -> None:
    names = [f"{number}_relu-{number:08d}" for number in (1, 2, 10, 11)]
    tries = [
        build(name, 1.0 + number, number=number, problem=int(name.split("_")[0]))
        for number in range(3)
        for name in reversed(names)
    ]
    assert {name: len(group) for name, group in group_by_task(tries).items()} == dict.fromkeys(names, 3)
    best = choose_best(tries)
    assert [record.task_id for record in best] == names
    assert [record.number for record in best] == [2, 2, 2, 2]


def test_many_tries_at_a_task() -> None:
    tries = [build_record("a-0", speedup, number=n) for n, speedup in enumerate((None, 1.0, None, 2.0))]
    assert compute_pass_at_k(tries, 1).value == 0.5
    assert compute_pass_at_k(tries, 2).value == pytest.approx(1.0 - 1.0 / 6.0)
    assert compute_best_of_k(tries, 4).value == 3.0
    assert [record.number for record in choose_best(tries)] == [3]


def test_a_task_with_too_few_tries_is_not_in_pass_at_k() -> None:
    tries = [build_record("a-0", 1.0), build_record("a-0", 1.0, number=1), build_record("b-0")]
    assert (compute_pass_at_k(tries, 1).value, compute_pass_at_k(tries, 1).n) == (0.5, 2)
    assert (compute_pass_at_k(tries, 2).value, compute_pass_at_k(tries, 2).n) == (1.0, 1)

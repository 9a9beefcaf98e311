"""The reward is the paper's milestones, strictly above 5 %."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cuda_agent.environment.result import BuildResult, BuildStatus, Evaluation, RulesResult, RulesStatus
from cuda_agent.environment.reward import RewardKind, compute_milestone, compute_reward, is_faster
from cuda_agent.judge.result import (
    ProfileResult,
    ProfileStatus,
    Ratio,
    TaskResult,
    TaskStatus,
    Timing,
    VerifyResult,
    VerifyStatus,
)
from cuda_agent.tasks.target import Target

ONE_MS = Timing(median_ms=1.0, calls_ms=(1.0,))


def evaluation(over_eager: Ratio, over_compiled: Ratio | None) -> Evaluation:
    profile = ProfileResult(
        status=ProfileStatus.OK,
        candidate=ONE_MS,
        eager=ONE_MS,
        over_eager=over_eager,
        over_compiled=over_compiled,
    )
    return Evaluation(
        task_id="t",
        submission_sha="s",
        target=Target.CPU,
        policy="strict",
        rules=RulesResult(status=RulesStatus.OK),
        build=BuildResult(status=BuildStatus.OK),
        verify=VerifyResult(status=VerifyStatus.OK),
        profile=profile,
    )


@pytest.mark.parametrize(
    ("over_eager", "over_compiled", "milestone"),
    [(2.0, 2.0, 3), (2.0, 1.0, 2), (1.0, 2.0, 1), (0.5, 0.5, 1), (2.0, None, 3), (1.0, None, 1)],
)
def test_milestones(over_eager: float, over_compiled: float | None, milestone: int) -> None:
    assert compute_milestone(over_eager, over_compiled) == milestone


def test_the_margin_is_strict() -> None:
    assert not is_faster(1 / 0.95 - 1e-9)
    assert is_faster(1 / 0.95 + 1e-9)


@pytest.mark.parametrize("ratio", [0.0, -1.0, math.nan, math.inf])
def test_an_impossible_ratio_is_an_error(ratio: float) -> None:
    with pytest.raises(ValueError, match="positive and finite"):
        is_faster(ratio)


@given(st.floats(0.01, 100), st.floats(0.01, 100))
def test_times_and_ratios_agree(t0: float, t: float) -> None:
    if abs((t0 - t) / t0 - 0.05) > 1e-9:
        assert is_faster(t0 / t) == ((t0 - t) / t0 > 0.05)


def test_the_lower_bound_or_the_point_decides() -> None:
    found = evaluation(Ratio(point=2.0, low=1.9, high=2.1), Ratio(point=1.1, low=1.01, high=1.2))
    assert compute_reward(found) == 2.0
    assert compute_reward(found, at_lower_bound=False) == 3.0
    assert compute_reward(found, RewardKind.SPEEDUP) == pytest.approx(1.1)


def test_what_failed_or_was_not_timed_is_minus_one() -> None:
    good = Ratio(point=2.0, low=2.0, high=2.0)
    found = evaluation(good, good)
    for changes in (
        {"profile": None},
        {"rules": RulesResult(status=RulesStatus.VIOLATION)},
        {"build": BuildResult(status=BuildStatus.COMPILE_ERROR)},
        {"verify": VerifyResult(status=VerifyStatus.MISMATCH)},
        {"profile": ProfileResult(status=ProfileStatus.CLOCK_DISPUTED)},
    ):
        assert compute_reward(found.model_copy(update=changes)) == -1.0


@pytest.mark.parametrize("status", [TaskStatus.FAULTY, TaskStatus.FAILED, TaskStatus.DOES_NOT_FIT])
def test_a_task_at_fault_counts_neither_for_nor_against(status: TaskStatus) -> None:
    good = Ratio(point=2.0, low=2.0, high=2.0)
    refused = {
        "task": TaskResult(status=status),
        "verify": VerifyResult(status=VerifyStatus.TASK_ERROR),
        "profile": None,
    }
    found = evaluation(good, good).model_copy(update=refused)
    assert found.is_task_at_fault
    assert compute_reward(found) == compute_reward(found, RewardKind.SPEEDUP) == 0.0


def test_a_reference_that_fails_only_beside_a_submission_is_no_excuse() -> None:
    good = Ratio(point=2.0, low=2.0, high=2.0)
    failed = {"task": TaskResult(), "verify": VerifyResult(status=VerifyStatus.TASK_ERROR)}
    assert compute_reward(evaluation(good, good).model_copy(update=failed)) == -1.0

"""The table says what was found."""

import io

import pytest
from rich.console import Console

from cuda_agent.agent.outcome import Outcome, combine
from cuda_agent.agent.trajectory import StopReason
from cuda_agent.cli.exit_code import ExitCode
from cuda_agent.cli.results import (
    build_estimates_table,
    build_results_table,
    choose_exit_code,
    describe_usage,
    describe_verdict,
)
from cuda_agent.environment.result import BuildResult, BuildStatus, Evaluation, RulesResult, RulesStatus
from cuda_agent.judge.result import ProfileResult, ProfileStatus, Ratio, Timing, VerifyResult, VerifyStatus
from cuda_agent.llm.chat import Usage
from cuda_agent.tasks.target import Target


def build_outcome(final: Evaluation | None, reward: float) -> Outcome:
    return Outcome(
        task_id="rms-norm-12345678",
        episode=0,
        stop_reason=StopReason.FINISHED,
        stop_detail="",
        turns=0,
        usage=Usage(),
        submissions=1,
        final=final,
        reward=reward,
        seconds=12.34,
    )


def move(outcome: Outcome, task_id: str, *, episode: int = 0) -> Outcome:
    return outcome.model_copy(update={"task_id": task_id, "episode": episode})


def time_ms(median_ms: float) -> Timing:
    return Timing(median_ms=median_ms, calls_ms=(median_ms,))


def build_evaluation(
    *, build: BuildStatus = BuildStatus.OK, profile: ProfileResult | None = None
) -> Evaluation:
    return Evaluation(
        task_id="rms-norm-12345678",
        submission_sha="s",
        target=Target.CPU,
        policy="strict",
        rules=RulesResult(status=RulesStatus.OK),
        build=BuildResult(status=build),
        verify=VerifyResult(status=VerifyStatus.OK) if profile else None,
        profile=profile,
    )


FAST = ProfileResult(
    status=ProfileStatus.OK,
    candidate=time_ms(4.0214),
    eager=time_ms(14.9),
    over_eager=Ratio(point=3.705, low=3.6, high=3.8),
)
NOTHING = build_outcome(None, -1.0)
VERIFIED = build_outcome(build_evaluation(profile=FAST), 3.0)
BROKEN = build_outcome(build_evaluation(build=BuildStatus.LINK_ERROR), -1.0)
DISPUTED = build_outcome(build_evaluation(profile=ProfileResult(status=ProfileStatus.CLOCK_DISPUTED)), -1.0)


@pytest.mark.parametrize(
    ("outcome", "verdict"),
    [
        (NOTHING, "nothing submitted (finished)"),
        (VERIFIED, "verified"),
        (BROKEN, "build: link_error"),
        (DISPUTED, "profile: clock_disputed"),
    ],
)
def test_a_verdict_names_stage_and_status(outcome: Outcome, verdict: str) -> None:
    assert describe_verdict(outcome) == verdict


def test_a_row_has_times_speedups_and_effort() -> None:
    out = io.StringIO()
    result = combine([VERIFIED, move(DISPUTED, "rms-norm-2")], failures={})
    Console(file=out, width=140).print(build_results_table(result))
    *_, fast, disputed = [line.split() for line in out.getvalue().splitlines() if line.strip()]
    assert build_estimates_table(result) is None
    assert fast == ["rms-norm", "verified", "4.021", "14.900", "-", "3.71x", "-", "3", "0", "12.3"]
    assert disputed == ["rms-norm", "profile:", "clock_disputed", *"-----", "-1", "0", "12.3"]


def test_the_exit_status_tells_the_worst() -> None:
    both = [VERIFIED, move(VERIFIED, "b-1")]
    assert choose_exit_code(combine(both, failures={})) is ExitCode.DONE
    assert choose_exit_code(combine([VERIFIED, move(BROKEN, "b-1")], failures={})) is ExitCode.NOT_VERIFIED
    assert choose_exit_code(combine([NOTHING], failures={})) is ExitCode.NOT_VERIFIED
    assert choose_exit_code(combine([VERIFIED], failures={"x": "gone"})) is ExitCode.INFRASTRUCTURE
    best = [BROKEN, move(VERIFIED, VERIFIED.task_id, episode=1)]
    assert choose_exit_code(combine(best, failures={})) is ExitCode.DONE


def test_of_many_episodes_the_best_is_shown_with_pass_at_k_and_best_of_k() -> None:
    outcomes = [
        BROKEN,
        move(VERIFIED, VERIFIED.task_id, episode=1),
        move(NOTHING, "other-1"),
        move(NOTHING, "other-1", episode=1),
    ]
    out = io.StringIO()
    result = combine(outcomes, failures={})
    Console(file=out, width=140).print(build_results_table(result), build_estimates_table(result))
    lines = [line.split() for line in out.getvalue().splitlines() if line.strip(" \u2500")]
    assert lines[1][:3] == ["rms-norm", "verified", "4.021"]
    assert lines[3:] == [
        ["module", "episodes", "pass@1", "pass@2", "best", "of", "1", "best", "of", "2"],
        ["rms-norm", "2", "50%", "100%", "1.00", "3.00"],
        ["other", "2", "0%", "0%", "-1.00", "-1.00"],
        ["all", "4", "25%", "50%", "0.00", "1.00"],
    ]


def test_tokens_and_cost_are_told_where_they_were_counted() -> None:
    first = Usage(prompt_tokens=1000, completion_tokens=20, cost=0.5)
    second = Usage(prompt_tokens=500, completion_tokens=3, cost=0.25)
    assert describe_usage(first + second) == "1,500 tokens read, 23 written, cost 0.75"
    assert describe_usage(Usage(prompt_tokens=7)) == "7 tokens read, 0 written"
    assert describe_usage(Usage()) == ""

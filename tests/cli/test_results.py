"""The table says what was found."""

import io

import pytest
from rich.console import Console

from cuda_agent.agent.job import JobResult
from cuda_agent.agent.trajectory import StopReason, Trajectory, Turn
from cuda_agent.cli.exit_code import ExitCode
from cuda_agent.cli.results import build_results_table, choose_exit_code, describe_usage, describe_verdict
from cuda_agent.environment.result import BuildResult, BuildStatus, Evaluation, RulesResult, RulesStatus
from cuda_agent.judge.result import ProfileResult, ProfileStatus, Ratio, Timing, VerifyResult, VerifyStatus
from cuda_agent.llm.chat import Message, Reply, Role, Usage
from cuda_agent.tasks.target import Target


def build_trajectory(final: Evaluation | None, reward: float) -> Trajectory:
    return Trajectory(
        task_id="rms-norm-12345678",
        target=Target.CPU,
        policy="expert",
        prompt=(),
        tools=(),
        turns=(),
        stop_reason=StopReason.FINISHED,
        final=final,
        reward=reward,
        seconds=12.34,
    )


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
NOTHING = build_trajectory(None, -1.0)
VERIFIED = build_trajectory(build_evaluation(profile=FAST), 3.0)
BROKEN = build_trajectory(build_evaluation(build=BuildStatus.LINK_ERROR), -1.0)
DISPUTED = build_trajectory(
    build_evaluation(profile=ProfileResult(status=ProfileStatus.CLOCK_DISPUTED)), -1.0
)


@pytest.mark.parametrize(
    ("trajectory", "verdict"),
    [
        (NOTHING, "nothing submitted (finished)"),
        (VERIFIED, "verified"),
        (BROKEN, "build: link_error"),
        (DISPUTED, "profile: clock_disputed"),
    ],
)
def test_a_verdict_names_stage_and_status(trajectory: Trajectory, verdict: str) -> None:
    assert describe_verdict(trajectory) == verdict


def test_a_row_has_times_speedups_and_effort() -> None:
    out = io.StringIO()
    Console(file=out, width=140).print(build_results_table([VERIFIED, DISPUTED]))
    *_, fast, disputed = [line.split() for line in out.getvalue().splitlines() if line.strip()]
    assert fast == ["rms-norm", "verified", "4.021", "14.900", "-", "3.71x", "-", "3", "0", "12.3"]
    assert disputed == ["rms-norm", "profile:", "clock_disputed", *"-----", "-1", "0", "12.3"]


def test_the_exit_status_tells_the_worst() -> None:
    assert choose_exit_code(JobResult((VERIFIED, VERIFIED), {})) is ExitCode.DONE
    assert choose_exit_code(JobResult((VERIFIED, BROKEN), {})) is ExitCode.NOT_VERIFIED
    assert choose_exit_code(JobResult((NOTHING,), {})) is ExitCode.NOT_VERIFIED
    assert choose_exit_code(JobResult((VERIFIED,), {"x": "gone"})) is ExitCode.INFRASTRUCTURE


def spend(*usages: Usage) -> Trajectory:
    """A trajectory whose turns used that much."""
    said = Message(role=Role.ASSISTANT, content="")
    turns = tuple(
        Turn(reply=Reply(message=said, usage=usage), observations=(), seconds_model=0.0, seconds_tools=0.0)
        for usage in usages
    )
    return NOTHING.model_copy(update={"turns": turns})


def test_tokens_and_cost_are_summed_over_turns_and_episodes() -> None:
    first = spend(Usage(prompt_tokens=1000, completion_tokens=20, cost=0.5), Usage(prompt_tokens=500))
    second = spend(Usage(completion_tokens=3, cost=0.25))
    assert describe_usage([first, second]) == "1,500 tokens read, 23 written, cost 0.75"
    assert describe_usage([spend(Usage(prompt_tokens=7))]) == "7 tokens read, 0 written"
    assert describe_usage([NOTHING, spend(Usage())]) == ""

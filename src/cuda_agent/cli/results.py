"""What came of a job, as a table."""

from collections.abc import Sequence

from rich.box import SIMPLE_HEAD
from rich.table import Table

from cuda_agent.agent.job import JobResult
from cuda_agent.agent.trajectory import Trajectory
from cuda_agent.cli.exit_code import ExitCode
from cuda_agent.environment.result import Evaluation
from cuda_agent.judge.result import Ratio, Timing

COLUMNS = (
    "candidate ms",
    "eager ms",
    "compile ms",
    "over eager",
    "over compile",
    "reward",
    "turns",
    "seconds",
)


def build_results_table(trajectories: Sequence[Trajectory]) -> Table:
    """A row for each trajectory: verdict, times, speed-ups, reward, effort."""
    table = Table(box=SIMPLE_HEAD)
    table.add_column("module", overflow="fold")
    table.add_column("verdict", overflow="fold")
    for column in COLUMNS:
        table.add_column(column, justify="right")
    for trajectory in trajectories:
        table.add_row(
            trajectory.task_id.rpartition("-")[0],
            describe_verdict(trajectory),
            *_describe_times(trajectory.final),
            f"{trajectory.reward:g}",
            str(len(trajectory.turns)),
            f"{trajectory.seconds:.1f}",
        )
    return table


def describe_verdict(trajectory: Trajectory) -> str:
    """`verified`, or which stage ended how, or why nothing was submitted."""
    if trajectory.final is None:
        return f"nothing submitted ({trajectory.stop_reason.value})"
    stage = trajectory.final.failed_stage
    if stage is None:
        return "verified"
    return f"{stage.value}: {getattr(trajectory.final, stage.value).status.value}"


def describe_usage(trajectories: Sequence[Trajectory]) -> str:
    """Tokens and cost of all turns, in one line; empty where no server counted any."""
    usages = [turn.reply.usage for trajectory in trajectories for turn in trajectory.turns]
    read = sum(usage.prompt_tokens for usage in usages)
    written = sum(usage.completion_tokens for usage in usages)
    if not read + written:
        return ""
    cost = sum(usage.cost for usage in usages)
    return f"{read:,} tokens read, {written:,} written" + (f", cost {cost:.4g}" if cost else "")


def is_verified(evaluation: Evaluation | None) -> bool:
    """Whether an evaluation went through every stage."""
    return evaluation is not None and evaluation.failed_stage is None and evaluation.profile is not None


def choose_exit_code(result: JobResult) -> ExitCode:
    """What a job's results mean for the exit status."""
    if result.failures:
        return ExitCode.INFRASTRUCTURE
    verified = all(is_verified(trajectory.final) for trajectory in result.trajectories)
    return ExitCode.DONE if verified else ExitCode.NOT_VERIFIED


def _describe_times(evaluation: Evaluation | None) -> tuple[str, str, str, str, str]:
    if evaluation is None or evaluation.profile is None:
        return ("-",) * 5
    profile = evaluation.profile
    return (
        _format_ms(profile.candidate),
        _format_ms(profile.eager),
        _format_ms(profile.compiled),
        _format_ratio(profile.over_eager),
        _format_ratio(profile.over_compiled),
    )


def _format_ms(timing: Timing | None) -> str:
    return "-" if timing is None else f"{timing.median_ms:.3f}"


def _format_ratio(ratio: Ratio | None) -> str:
    return "-" if ratio is None else f"{ratio.point:.2f}x"

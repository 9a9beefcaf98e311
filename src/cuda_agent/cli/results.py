"""What came of a job, as tables."""

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from cuda_agent.agent.outcome import JobOutcome, Outcome
from cuda_agent.cli.exit_code import ExitCode
from cuda_agent.environment.result import Evaluation
from cuda_agent.judge.result import Ratio, Timing
from cuda_agent.llm.chat import Usage
from cuda_agent.printable import make_printable

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


def show_result(result: JobOutcome, console: Console) -> None:
    """Print what came of a job, and what its language model read and wrote."""
    for table in filter(None, (build_results_table(result), build_estimates_table(result))):
        console.print(table)
    if usage := describe_usage(result.usage):
        print(usage)


def build_results_table(result: JobOutcome) -> Table:
    """A row for each task, from its best episode: verdict, times, speed-ups, reward, effort."""
    table = Table(box=SIMPLE_HEAD)
    table.add_column("module", overflow="fold")
    table.add_column("verdict", overflow="fold")
    for column in COLUMNS:
        table.add_column(column, justify="right")
    for task in result.tasks:
        table.add_row(*_describe_best(task.best))
    return table


def build_estimates_table(result: JobOutcome) -> Table | None:
    """What k episodes bring: pass@k and best-of-k of each task and of all; None where each has one."""
    ks = [*result.pass_at_k]
    if ks in ([], [1]):
        return None
    table = Table(box=SIMPLE_HEAD)
    table.add_column("module", overflow="fold")
    for column in ("episodes", *(f"pass@{k}" for k in ks), *(f"best of {k}" for k in ks)):
        table.add_column(column, justify="right")
    for task in result.tasks:
        estimates = _describe_estimates(task.pass_at_k, task.best_of_k, ks=ks)
        table.add_row(_shorten(task.task_id), str(len(task.rewards)), *estimates)
    if len(result.tasks) > 1:
        total = sum(len(task.rewards) for task in result.tasks)
        table.add_section()
        table.add_row("all", str(total), *_describe_estimates(result.pass_at_k, result.best_of_k, ks=ks))
    return table


def _describe_best(outcome: Outcome) -> tuple[str, ...]:
    return (
        _shorten(outcome.task_id),
        describe_verdict(outcome),
        *_describe_times(outcome.final),
        f"{outcome.reward:g}",
        str(outcome.turns),
        f"{outcome.seconds:.1f}",
    )


def _shorten(task_id: str) -> str:
    return make_printable(task_id.rpartition("-")[0])


def _describe_estimates(
    pass_at_k: dict[int, float], best_of_k: dict[int, float], *, ks: list[int]
) -> tuple[str, ...]:
    passes = (f"{pass_at_k[k]:.0%}" if k in pass_at_k else "-" for k in ks)
    bests = (f"{best_of_k[k]:.2f}" if k in best_of_k else "-" for k in ks)
    return *passes, *bests


def describe_verdict(outcome: Outcome) -> str:
    """`verified`, or which stage ended how, or why nothing was submitted."""
    if outcome.final is None:
        return f"nothing submitted ({outcome.stop_reason.value})"
    verdict = outcome.final.verdict
    return "verified" if verdict == "ok" else verdict.replace(":", ": ")


def describe_usage(usage: Usage) -> str:
    """Tokens and cost in one line; empty where no server counted any."""
    if not usage.prompt_tokens + usage.completion_tokens:
        return ""
    cost = f", cost {usage.cost:.4g}" if usage.cost else ""
    return f"{usage.prompt_tokens:,} tokens read, {usage.completion_tokens:,} written{cost}"


def choose_exit_code(result: JobOutcome, *, refused: int = 0) -> ExitCode:
    """What a job's results mean for the exit status, with so many tasks that were not worth judging."""
    if result.failures:
        return ExitCode.INFRASTRUCTURE
    verified = not refused and all(task.best.is_verified for task in result.tasks)
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

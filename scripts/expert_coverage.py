"""Which tasks the expert can plan and write for a target, and why it refuses the others: no judge, no timing.

`python -m scripts.expert_coverage --tasks FILE.parquet`, or task files as `cuda-agent run` takes them.
"""

from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

import tyro

from cuda_agent.config import Config, Record
from cuda_agent.expert.study import StudyError, study_task
from cuda_agent.expert.tune import CPU_CHOICES, CUDA_CHOICES
from cuda_agent.sandbox.build import build_sandbox
from cuda_agent.sandbox.protocol import Sandbox
from cuda_agent.tasks.dataset import is_dataset, load_tasks
from cuda_agent.tasks.kernelbench import load_task
from cuda_agent.tasks.target import Target
from cuda_agent.tasks.task import Task


class CoverageConfig(Config):
    """What to look at."""

    tasks: tuple[str, ...]
    """Task files, or FILE.parquet with what of it, as for `cuda-agent run`."""
    target: Target = Target.CPU
    """For which kernels are written; they are not built."""


class Attempt(Record):
    """What became of one task."""

    name: str
    """The task."""
    reason: str = ""
    """Why the expert refused it; empty when it wrote kernels."""


def list_tasks(places: Iterable[str]) -> list[Task]:
    """Every task of some files and data sets."""
    return [
        task
        for place in places
        for task in (load_tasks(place) if is_dataset(place) else (load_task(Path(place)),))
    ]


def try_task(sandbox: Sandbox, task: Task, *, target: Target) -> Attempt:
    """Trace and plan a task in the sandbox, and write its first kernel."""
    choices = CPU_CHOICES if target is Target.CPU else CUDA_CHOICES
    try:
        study_task(sandbox, task.source, target=target).write_files(choices[0], is_first=True)
    except StudyError as error:
        return Attempt(name=task.name, reason=str(error))
    return Attempt(name=task.name)


def write_table(attempts: list[Attempt]) -> str:
    """How many were written, then the reasons for the others, the most frequent first."""
    refused: dict[str, list[str]] = defaultdict(list)
    for attempt in attempts:
        if attempt.reason:
            refused[attempt.reason].append(attempt.name)
    written = len(attempts) - sum(len(names) for names in refused.values())
    lines = [f"written: {written} of {len(attempts)}"]
    if refused:
        lines += ["", "| tasks | why not | for example |", "|---|---|---|"]
    for reason, names in sorted(refused.items(), key=lambda item: (-len(item[1]), item[0])):
        lines.append(f"| {len(names)} | {reason.replace('|', '/')} | {names[0]} |")
    return "\n".join(lines)


def run_coverage(config: CoverageConfig) -> None:
    """Print a line a task as it goes, then the table."""
    sandbox, tasks = build_sandbox(), list_tasks(config.tasks)
    attempts = []
    for number, task in enumerate(tasks):
        attempts.append(try_task(sandbox, task, target=config.target))
        print(f"[{number + 1}/{len(tasks)}] {task.name}: {attempts[-1].reason or 'written'}", flush=True)
    print(write_table(attempts))


if __name__ == "__main__":
    run_coverage(tyro.cli(CoverageConfig, description=__doc__, config=(tyro.conf.EnumChoicesFromValues,)))

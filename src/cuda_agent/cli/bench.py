"""Run a benchmark: one loop for every policy, over a suite of tasks, in numbers that say what they are of.

`cuda-agent bench SUITE --policy P` holds the episodes, where SUITE is a KernelBench checkout or its parquet
files, a data set, or a folder of tasks. `bench gate SUITE` tells which tasks are worth judging, with no GPU.
`bench report RUN` tells what a run amounts to, also one of `run` or `evaluate`. `bench compare A B` sets two
runs side by side, task by task.

Exit status: 0 done; 1 a task was not verified, or failed the gate; 2 wrong use; 3 the machine failed;
130 interrupted.
"""

from pathlib import Path

import tyro
from pydantic import PositiveInt

from cuda_agent.agent.episode import EpisodeConfig, EpisodeOptions
from cuda_agent.agent.job import Job
from cuda_agent.bench.suite import Suite, load_suite
from cuda_agent.cli.bench_report import compare_runs, gate_suite, report_run
from cuda_agent.cli.bench_run import hold_suite
from cuda_agent.cli.target import choose_target
from cuda_agent.errors import UserError
from cuda_agent.sandbox.build import build_sandbox
from cuda_agent.tasks.target import Target


class BenchConfig(EpisodeOptions):
    """What to run, or to tell."""

    action: tyro.conf.Positional[tuple[str, ...]] = ()
    """`SUITE`, `gate SUITE`, `report RUN` or `compare A B`."""
    levels: tuple[int, ...] = ()
    """Only these levels of the suite."""
    only: tuple[str, ...] = ()
    """Only tasks whose place begins so, such as level1/10."""
    target: Target | None = None
    """Where kernels run; without it cuda where a GPU and nvcc are, else cpu."""
    episodes: PositiveInt = 1
    """How many episodes each task has; the best of them counts, and pass@k is told."""
    concurrency: PositiveInt = 1
    """How many episodes are held at once."""
    out: Path | None = None
    """The run's folder; without it a fresh one in runs/."""
    resume: bool = False
    """Go on with the run in --out."""


def run_bench(config: BenchConfig) -> int:
    """Do what the words ask for."""
    match config.action:
        case ("gate", place):
            suite = load_suite(Path(place), levels=config.levels, only=config.only)
            return gate_suite(suite, sandbox=build_sandbox(config.sandbox), out=config.out)
        case ("report", run):
            return report_run(Path(run))
        case ("compare", a, b):
            return compare_runs(Path(a), Path(b))
        case (place,) if place not in ("gate", "report", "compare"):
            suite = load_suite(Path(place), levels=config.levels, only=config.only)
            job = _build_job(suite, config)
            return hold_suite(
                suite, job, out=config.out, resume=config.resume, concurrency=config.concurrency
            )
        case words:
            asked = f"not {' '.join(words)!r}" if words else "and there is nothing"
            raise UserError(f"bench takes SUITE, gate SUITE, report RUN or compare A B, {asked}")


def _build_job(suite: Suite, config: BenchConfig) -> Job:
    options = {name: getattr(config, name) for name in EpisodeOptions.model_fields}
    episode = EpisodeConfig(target=choose_target(config.target), **options)
    return Job(tasks=tuple(each.task for each in suite.tasks), episode=episode, episodes=config.episodes)

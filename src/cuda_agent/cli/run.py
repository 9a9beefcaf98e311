"""Make PyTorch modules faster: an agent writes kernels for each task, the judge scores them.

A task that is not worth judging (constant, random, or right for a trivial answer) is named and left out;
refused.json keeps why.

Exit status: 0 every task verified; 1 a task was not; 2 wrong use; 3 the machine failed; 130 interrupted.
"""

from pathlib import Path

import tyro
from pydantic import PositiveInt

from cuda_agent.agent.episode import EpisodeConfig, EpisodeOptions
from cuda_agent.agent.job import Job, run_job
from cuda_agent.agent.policy import build_policy
from cuda_agent.agent.refused import write_refused
from cuda_agent.cli.console import build_console
from cuda_agent.cli.gate import admit_job
from cuda_agent.cli.job_source import load_saved_job, load_tasks
from cuda_agent.cli.progress import ConsoleProgress
from cuda_agent.cli.results import choose_exit_code, show_result
from cuda_agent.cli.run_folder import open_run, tell_run
from cuda_agent.cli.target import choose_target
from cuda_agent.sandbox.build import build_sandbox
from cuda_agent.tasks.target import Target


class RunConfig(EpisodeOptions):
    """What to run."""

    tasks: tyro.conf.Positional[tuple[Path, ...]] = ()
    """Task files; of a data set FILE.parquet all tasks, FILE.parquet#ID one, FILE.parquet#heldout:10 ten at
    random. With --resume and no other option: the run's own."""
    target: Target | None = None
    """Where kernels run; without it cuda where a GPU and nvcc are, else cpu."""
    episodes: PositiveInt = 1
    """How many episodes each task has; the best of them counts."""
    concurrency: PositiveInt = 1
    """How many episodes are held at once."""
    out: Path | None = None
    """The run's folder; without it a fresh one in runs/."""
    resume: Path | None = None
    """The folder of a run to go on with; the configuration must be the one it was started with."""


def run_run(config: RunConfig) -> int:
    """Hold the episodes of each task and print what came of them."""
    console = build_console()
    job = _build_job(config)
    sandbox = build_sandbox(job.episode.sandbox)
    episode = job.episode
    chat = build_policy(
        episode.policy,
        target=episode.target,
        sandbox=sandbox,
        endpoint=episode.endpoint,
        local=episode.local,
    )
    gated = admit_job(job, sandbox=sandbox, console=console)
    with (
        open_run("run", job, out=config.out, resume=config.resume) as run,
        ConsoleProgress(console) as progress,
    ):
        tell_run(run, "cuda-agent run")
        write_refused(run, gated.refused)
        many = config.concurrency
        result = run_job(gated.job, chat=chat, sandbox=sandbox, run=run, observer=progress, concurrency=many)
    show_result(result, console)
    return choose_exit_code(result, refused=len(gated.refused))


def _build_job(config: RunConfig) -> Job:
    bare = RunConfig(resume=config.resume, concurrency=config.concurrency)
    if config.resume is not None and config == bare:
        return load_saved_job(config.resume)
    options = {name: getattr(config, name) for name in EpisodeOptions.model_fields}
    episode = EpisodeConfig(target=choose_target(config.target), **options)
    return Job(tasks=load_tasks(config.tasks), episode=episode, episodes=config.episodes)

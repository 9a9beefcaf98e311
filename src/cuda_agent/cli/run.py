"""Make PyTorch modules faster: an agent writes kernels for each task, the judge scores them.

Exit status: 0 every task verified; 1 a task was not; 2 wrong use; 3 the machine failed; 130 interrupted.
"""

from pathlib import Path
from typing import Literal

import tyro
from pydantic import PositiveInt

from cuda_agent.agent.episode import EpisodeConfig
from cuda_agent.agent.job import Job, run_job
from cuda_agent.agent.limits import EpisodeLimits
from cuda_agent.agent.policy import build_policy
from cuda_agent.cli.console import build_console
from cuda_agent.cli.job_source import load_saved_job, load_tasks, open_run
from cuda_agent.cli.progress import ConsoleProgress
from cuda_agent.cli.results import build_estimates_table, build_results_table, choose_exit_code
from cuda_agent.cli.target import choose_target
from cuda_agent.config import Config
from cuda_agent.sandbox.build import build_sandbox
from cuda_agent.sandbox.protocol import Containment
from cuda_agent.tasks.target import Target


class RunConfig(Config):
    """What to run."""

    tasks: tyro.conf.Positional[tuple[Path, ...]] = ()
    """Task files. With --resume and no other option: the run's own."""
    target: Target | None = None
    """Where kernels run; without it cuda where a GPU and nvcc are, else cpu."""
    policy: str = "expert"
    """Who acts: `expert`, or `scripted:FILE` (a trajectories.jsonl, or a .toml script)."""
    sandbox: Containment = Containment.AUTO
    """How untrusted commands are contained."""
    judge: Literal["strict", "paper"] = "strict"
    """How strictly submissions are judged."""
    limits: EpisodeLimits = EpisodeLimits()
    """How long an episode may go on."""
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
    chat = build_policy(job.episode.policy, target=job.episode.target, sandbox=sandbox)
    with open_run(job, out=config.out, resume=config.resume) as run, ConsoleProgress(console) as progress:
        result = run_job(
            job, chat=chat, sandbox=sandbox, run=run, observer=progress, concurrency=config.concurrency
        )
    for table in filter(None, (build_results_table(result), build_estimates_table(result))):
        console.print(table)
    return choose_exit_code(result)


def _build_job(config: RunConfig) -> Job:
    bare = RunConfig(resume=config.resume, concurrency=config.concurrency)
    if config.resume is not None and config == bare:
        return load_saved_job(config.resume)
    episode = EpisodeConfig(
        target=choose_target(config.target),
        policy=config.policy,
        judge=config.judge,
        sandbox=config.sandbox,
        limits=config.limits,
    )
    return Job(tasks=load_tasks(config.tasks), episode=episode, episodes=config.episodes)

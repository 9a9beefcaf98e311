"""What `cuda-agent bench` is told, and what of it each of its actions depends on."""

import os
from pathlib import Path
from typing import Literal

import tyro
from pydantic import PositiveFloat, PositiveInt

from cuda_agent.agent.episode import EpisodeConfig, EpisodeOptions
from cuda_agent.agent.job import Job
from cuda_agent.bench.baselines import BaselinesConfig
from cuda_agent.bench.judged import JudgedConfig
from cuda_agent.bench.solutions import name_path
from cuda_agent.bench.suite import Suite, load_suite
from cuda_agent.cli.target import choose_target
from cuda_agent.judge.protocol import CompileMode
from cuda_agent.tasks.target import Target


class BenchConfig(EpisodeOptions):
    """What to run, or to tell."""

    action: tyro.conf.Positional[tuple[str, ...]] = ()
    """`SUITE`, `judge SUITE SOLUTIONS`, `baselines SUITE`, `gate SUITE`, `report RUN` or `compare A B`."""
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
    judges: tuple[Literal["strict", "paper"], ...] = ()
    """Of `judge`: the policies, each of which judges every solution; without it the one of --judge."""
    modes: tuple[CompileMode, ...] = (CompileMode.DEFAULT,)
    """Of `baselines`: torch.compile's modes, each timed against eager anew."""
    gate: Path | None = None
    """Of `report`: the folder of a `gate` run, whose findings are set beside the numbers."""
    gflops: PositiveFloat | None = None
    """Of `report` with --gate: the device's GFLOP/s at the run's precision, for floors of operations too."""
    resume: Path | None = None
    """The folder of a run to go on with; the other options must be those it was started with."""

    def load_suite(self, place: str) -> Suite:
        """The chosen tasks of the suite at a path.

        Raises:
            UserError: there is none.
        """
        return load_suite(Path(place), levels=self.levels, only=self.only)

    def build_job(self, suite: Suite) -> Job:
        """The episodes to hold over a suite."""
        options = {name: getattr(self, name) for name in EpisodeOptions.model_fields}
        episode = EpisodeConfig(target=choose_target(self.target), **options)
        return Job(tasks=tuple(each.task for each in suite.tasks), episode=episode, episodes=self.episodes)

    def build_baselines(self, suite: Suite) -> BaselinesConfig:
        """What a table of baselines depends on; a mode that is named twice is timed once."""
        return BaselinesConfig(
            suite=suite,
            target=choose_target(self.target),
            policy=self.judge,
            modes=tuple(dict.fromkeys(self.modes)),
            containment=self.sandbox,
        )

    def build_judged(self, suite: Suite, solutions: Path) -> JudgedConfig:
        """What judging a folder of solutions depends on; a policy that is named twice judges once."""
        return JudgedConfig(
            suite=suite,
            solutions=name_path(Path(os.path.abspath(solutions))),
            target=choose_target(self.target),
            judges=tuple(dict.fromkeys(self.judges or (self.judge,))),
            containment=self.sandbox,
        )

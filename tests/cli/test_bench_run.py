"""A suite's run is an ordinary run with the suite beside it."""

from pathlib import Path

import pytest

from cuda_agent.agent.episode import EpisodeConfig
from cuda_agent.agent.job import Job
from cuda_agent.bench.suite import load_suite
from cuda_agent.cli.bench_run import hold_suite
from cuda_agent.errors import ConfigError
from cuda_agent.tasks.target import Target

TASKS = Path(__file__).parents[1] / "suite"


def test_to_resume_a_run_it_must_be_named() -> None:
    suite = load_suite(TASKS)
    job = Job(tasks=tuple(each.task for each in suite.tasks), episode=EpisodeConfig(target=Target.CPU))
    with pytest.raises(ConfigError, match="--resume needs --out"):
        hold_suite(suite, job, out=None, resume=True, concurrency=1)

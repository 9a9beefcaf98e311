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


def test_a_run_to_go_on_with_must_be_there(tmp_path: Path) -> None:
    suite = load_suite(TASKS)
    job = Job(tasks=tuple(each.task for each in suite.tasks), episode=EpisodeConfig(target=Target.CPU))
    with pytest.raises(ConfigError, match="holds no run"):
        hold_suite(suite, job, out=None, resume=tmp_path, concurrency=1)

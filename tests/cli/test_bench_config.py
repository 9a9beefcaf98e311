"""What each action depends on follows from the flags alone."""

from pathlib import Path

import pytest

from cuda_agent.cli.bench_config import BenchConfig
from cuda_agent.errors import UserError
from cuda_agent.tasks.target import Target

SUITE = Path(__file__).parents[1] / "suite"


def test_a_job_is_of_the_chosen_tasks() -> None:
    config = BenchConfig(target=Target.CPU, levels=(1,), only=("level1/1",), episodes=3, judge="paper")
    job = config.build_job(config.load_suite(str(SUITE)))
    assert [task.name for task in job.tasks] == ["1_relu"]
    assert (job.episodes, job.episode.judge, job.episode.target) == (3, "paper", Target.CPU)


def test_solutions_are_judged_by_each_policy_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    suite = BenchConfig().load_suite(str(SUITE))
    many = BenchConfig(target=Target.CPU, judges=("paper", "strict", "paper")).build_judged(
        suite, Path("made/")
    )
    assert (many.judges, many.policy) == (("paper", "strict"), "made")
    assert many.solutions == str(tmp_path / "made")
    assert BenchConfig(target=Target.CPU).build_judged(suite, Path(".")).judges == ("strict",)


def test_a_suite_without_the_chosen_tasks_is_an_error() -> None:
    with pytest.raises(UserError, match="has no task"):
        BenchConfig(only=("level9/1",)).load_suite(str(SUITE))

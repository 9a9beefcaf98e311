"""Tasks come from files, each once, or from an earlier run."""

from pathlib import Path

import pytest

from cuda_agent.agent.episode import EpisodeConfig
from cuda_agent.agent.job import Job
from cuda_agent.cli.job_source import load_saved_job, load_tasks, open_run
from cuda_agent.errors import ConfigError, UserError
from cuda_agent.tasks.target import Target
from cuda_agent.tasks.task import Task


def test_a_file_given_twice_is_one_task(tmp_path: Path, tiny_task: Task) -> None:
    for name in ("a.py", "b.py"):
        (tmp_path / name).write_text(tiny_task.source)
    files = [tmp_path / name for name in ("a.py", "b.py", "a.py")]
    assert [task.name for task in load_tasks(files)] == ["a", "b"]
    with pytest.raises(UserError, match="no task given"):
        load_tasks([])


def test_a_saved_job_comes_back(tmp_path: Path, tiny_task: Task, capfd: pytest.CaptureFixture[str]) -> None:
    job = Job(tasks=(tiny_task,), episode=EpisodeConfig(target=Target.CPU), episodes=3)
    open_run(job, out=tmp_path / "run", resume=None).close()
    assert f"--resume {tmp_path / 'run'}" in capfd.readouterr().out
    with pytest.raises(ConfigError, match="already holds a run"):
        open_run(job, out=tmp_path / "run", resume=None)
    open_run(job, out=None, resume=tmp_path / "run").close()
    assert load_saved_job(tmp_path / "run") == job

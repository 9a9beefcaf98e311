"""Tasks come from files, each once, or from an earlier run."""

from pathlib import Path

import pytest

from cuda_agent.agent.episode import EpisodeConfig
from cuda_agent.agent.job import Job
from cuda_agent.cli.job_source import load_saved_job, load_tasks
from cuda_agent.errors import UserError
from cuda_agent.rundir import RunDir
from cuda_agent.tasks.dataset import Row, write_dataset
from cuda_agent.tasks.target import Target
from cuda_agent.tasks.task import Task


def test_a_file_given_twice_is_one_task(tmp_path: Path, tiny_task: Task) -> None:
    for name in ("a.py", "b.py"):
        (tmp_path / name).write_text(tiny_task.source)
    files = [tmp_path / name for name in ("a.py", "b.py", "a.py")]
    assert [task.name for task in load_tasks(files)] == ["a", "b"]
    with pytest.raises(UserError, match="no task given"):
        load_tasks([])


def test_rows_of_a_data_set_are_tasks_too(tmp_path: Path, tiny_task: Task) -> None:
    codes = [tiny_task.source, tiny_task.source + "\n"]
    rows = [Row(ops=("torch.abs",), data_source="", code=code, id=f"r{n}") for n, code in enumerate(codes)]
    write_dataset(tmp_path / "t.parquet", rows)
    (tmp_path / "a.py").write_text(tiny_task.source)
    places = [tmp_path / name for name in ("a.py", "t.parquet#r1", "t.parquet")]
    assert [(task.name, task.source) for task in load_tasks(places)] == [
        ("a", codes[0]),
        ("abs", codes[1]),
        ("abs", codes[0]),
    ]


def test_a_saved_job_comes_back(tmp_path: Path, tiny_task: Task) -> None:
    job = Job(tasks=(tiny_task,), episode=EpisodeConfig(target=Target.CPU), episodes=3)
    RunDir.create(tmp_path / "run", job).close()
    assert load_saved_job(tmp_path / "run") == job

"""Tasks in verl's columns, and back."""

from pathlib import Path

import pyarrow.parquet
import pytest

from cuda_agent.agent.limits import EpisodeLimits
from cuda_agent.agent.prompt import build_prompt
from cuda_agent.errors import UserError
from cuda_agent.rl.verl_adapter.task_rows import read_task, write_task_rows
from cuda_agent.tasks.dataset import Row
from cuda_agent.tasks.target import Target
from cuda_agent.tasks.task import Task


def test_columns_are_verls_and_the_task_comes_back(tmp_path: Path, tiny_task: Task) -> None:
    row = Row(ops=("relu", "mul"), data_source="torch#2", code=tiny_task.source, id="0a1b", split="train")
    limits = EpisodeLimits(turns=7)
    write_task_rows(tmp_path / "tasks.parquet", [row], target=Target.CPU, limits=limits)
    (written,) = pyarrow.parquet.read_table(tmp_path / "tasks.parquet").to_pylist()
    assert set(written) == {"data_source", "prompt", "reward_model", "extra_info"}
    task = Task(name="0a1b", source=tiny_task.source)
    assert read_task(written) == task
    system, user = build_prompt(task, target=Target.CPU, limits=limits)
    assert written["prompt"] == [
        {"role": "system", "content": system.content},
        {"role": "user", "content": user.content},
    ]
    assert written["extra_info"] == {"index": 0, "split": "train", "name": "0a1b", "ops": '["relu", "mul"]'}
    assert written["data_source"] == "torch#2"


@pytest.mark.parametrize("row", [{}, {"extra_info": None, "reward_model": {"ground_truth": ""}}])
def test_a_foreign_row_is_refused(row: dict[str, object]) -> None:
    with pytest.raises(UserError, match="write the file with write_task_rows"):
        read_task(row)

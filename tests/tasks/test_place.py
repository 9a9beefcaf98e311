"""A task is found where it is said to be."""

from pathlib import Path

import pytest

from cuda_agent.errors import UserError
from cuda_agent.tasks.dataset import Row, write_dataset
from cuda_agent.tasks.place import load_one_task, load_place
from cuda_agent.tasks.task import Task


def test_a_file_and_a_row_are_one_task_and_a_data_set_is_several(tmp_path: Path, tiny_task: Task) -> None:
    codes = [tiny_task.source, tiny_task.source + "\n"]
    rows = [Row(ops=("torch.abs",), data_source="", code=code, id=f"r{n}") for n, code in enumerate(codes)]
    write_dataset(tmp_path / "t.parquet", rows)
    (tmp_path / "a.py").write_text(tiny_task.source)
    assert load_one_task(tmp_path / "a.py").name == "a"
    assert load_one_task(tmp_path / "t.parquet#r1").source == codes[1]
    assert [task.source for task in load_place(tmp_path / "t.parquet")] == codes
    with pytest.raises(UserError, match="holds 2 tasks; name one"):
        load_one_task(tmp_path / "t.parquet")


def test_a_data_set_that_was_written_anew_is_read_anew(tmp_path: Path, tiny_task: Task) -> None:
    place = tmp_path / "t.parquet"
    for count in (1, 2):
        row = Row(ops=("torch.abs",), data_source="", code=tiny_task.source)
        write_dataset(place, [row] * count)
        assert len(load_place(place)) == count

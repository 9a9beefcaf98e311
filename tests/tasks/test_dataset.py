"""Data sets are read and written, ours and the published layout."""

from pathlib import Path

import pyarrow
import pyarrow.parquet
import pytest

from cuda_agent.errors import TaskError, UserError
from cuda_agent.tasks.dataset import Row, load_tasks, read_dataset, write_dataset
from tests.tasks.test_source import GOOD


def write_table(path: Path, **columns: list[object]) -> Path:
    pyarrow.parquet.write_table(pyarrow.table(columns), path)
    return path


def test_our_own_rows_come_back(tmp_path: Path) -> None:
    path = tmp_path / "tasks.parquet"
    rows = (
        Row(ops=("torch.abs",), data_source="torch#1", code=GOOD, id="ab12", split="train", eager_ms=2.5),
        Row(
            ops=("torch.abs", "torch.sum"),
            data_source="torch#2",
            code=GOOD + "\n",
            id="cd34",
            tags=("a", "b"),
        ),
    )
    write_dataset(path, rows)
    assert read_dataset(path) == rows
    schema = pyarrow.parquet.read_schema(path)
    assert schema.names[:3] == ["ops", "data_source", "code"]
    assert str(schema.field("ops").type).startswith("list<")


@pytest.mark.parametrize(
    "ops", ['["nn.Conv2d", "torch.relu"]', "['nn.Conv2d', 'torch.relu']", "nn.Conv2d, torch.relu",
            ["nn.Conv2d", "torch.relu"]],
)  # fmt: skip
def test_the_published_layout(tmp_path: Path, ops: object) -> None:
    path = write_table(tmp_path / "a.parquet", ops=[ops], data_source=["torch#2"], code=[GOOD], extra=[1])
    (row,) = read_dataset(path)
    assert (row.ops, row.data_source, row.id) == (("nn.Conv2d", "torch.relu"), "torch#2", "0")


def test_tasks_by_id_or_all(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    write_dataset(
        path,
        [
            Row(ops=("torch.abs", "torch.nn.ReLU"), data_source="x", code=GOOD + n * "\n", id=f"id{n}")
            for n in (1, 2)
        ],
    )
    assert len(load_tasks(str(path))) == 2
    (task,) = load_tasks(f"{path}#id2")
    assert (task.name, task.source) == ("abs-ReLU", GOOD + "\n\n")
    with pytest.raises(UserError, match=r"no row and no split 'id3'; the nearest are id[12], id[12]"):
        load_tasks(f"{path}#id3")


def test_a_sample_of_a_split(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    rows = [
        Row(ops=(f"torch.f{n}",), data_source="x", code=GOOD, id=f"id{n}", split=split)
        for n, split in enumerate(["train", "heldout"] * 20)
    ]
    write_dataset(path, rows)
    names = [task.name for task in load_tasks(f"{path}#heldout:5")]
    assert len(set(names)) == 5
    assert all(int(name.removeprefix("f")) % 2 for name in names)
    assert names == sorted(names, key=lambda name: int(name[1:]))
    assert [task.name for task in load_tasks(f"{path}#heldout:5")] == names
    assert [task.name for task in load_tasks(f"{path}#heldout:5:1")] != names
    assert len(load_tasks(f"{path}#heldout")) == 20
    assert len(load_tasks(f"{path}#all:40")) == 40
    for wrong, words in {
        "heldout:21": "holds 20 rows; draw between 1 and 20",
        "heldout:0": "draw between",
        "heldout:x": "write SPLIT:N",
        "heldout:1:2:3": "write SPLIT:N",
        "helout": "the nearest are heldout",
    }.items():
        with pytest.raises(UserError, match=words):
            load_tasks(f"{path}#{wrong}")


def test_an_empty_file_has_no_tasks(tmp_path: Path) -> None:
    write_dataset(tmp_path / "t.parquet", [])
    with pytest.raises(UserError, match="holds no rows"):
        load_tasks(str(tmp_path / "t.parquet"))


def test_what_is_no_data_set(tmp_path: Path) -> None:
    (tmp_path / "text.parquet").write_text("no parquet")
    with pytest.raises(UserError, match="not readable as parquet"):
        read_dataset(tmp_path / "text.parquet")
    with pytest.raises(UserError, match="no column code"):
        read_dataset(write_table(tmp_path / "b.parquet", ops=["a"], data_source=["b"]))
    with pytest.raises(TaskError, match="row 0: not a task's row"):
        read_dataset(write_table(tmp_path / "c.parquet", ops=["[a"], data_source=["b"], code=["c"]))
    with pytest.raises(TaskError, match="#0: Model is not defined"):
        load_tasks(str(write_table(tmp_path / "d.parquet", ops=["a"], data_source=["b"], code=["c = 1"])))

"""What a run came to is written into the card of the tasks' data set."""

from pathlib import Path

import pytest

from cuda_agent.bench.load import write_records
from cuda_agent.cli.synth_share import share_dataset
from cuda_agent.errors import UserError
from cuda_agent.tasks.dataset import Row, load_tasks, write_dataset
from tests.bench.conftest import build_record
from tests.synthesis.conftest import GOOD


def write_rows(path: Path) -> tuple[str, ...]:
    rows = [
        Row(ops=("torch.tanh",), data_source="torch#1", code=GOOD + n * "\n", split="heldout")
        for n in range(4)
    ]
    write_dataset(path, rows)
    return tuple(task.task_id for task in load_tasks(str(path)))


def test_shares_are_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tasks = write_rows(tmp_path / "tasks.parquet")
    (tmp_path / "README.md").write_text("# 4 tasks\n")
    records = [
        build_record(tasks[0], 2.0),
        build_record(tasks[1], 2.0, over_compiled=0.9),
        build_record(tasks[2], 1.0),
        build_record(tasks[3]),
    ]
    write_records(tmp_path / "records.jsonl", records)
    for _ in range(2):
        assert share_dataset(tmp_path / "tasks.parquet", tmp_path / "records.jsonl") == 0
    card = (tmp_path / "README.md").read_text()
    assert card.startswith("# 4 tasks\n\n## What a policy makes of a sample")
    line = "| p | cpu | strict | 4 heldout | 75% (30% to 95%) | 50% (15% to 85%) | 25% (5% to 70%) |"
    assert card.count(line) == 1
    assert line in capsys.readouterr().out


def test_a_run_over_other_tasks_is_refused(tmp_path: Path) -> None:
    write_rows(tmp_path / "tasks.parquet")
    write_records(tmp_path / "records.jsonl", [build_record("other-01234567", 2.0)])
    with pytest.raises(UserError, match=r"has tasks that .* has not, such as other-01234567"):
        share_dataset(tmp_path / "tasks.parquet", tmp_path / "records.jsonl")

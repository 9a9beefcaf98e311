"""The verb synth: makes a data set, and audits one."""

import subprocess
import sys
from pathlib import Path

import pytest

from cuda_agent.cli.main import main
from cuda_agent.tasks.dataset import Row, read_dataset, write_dataset
from tests.synthesis.conftest import GOOD


def write_rows(path: Path, *labels: str) -> Path:
    rows = [Row(ops=("torch.tanh", label), data_source="torch#2", code=GOOD + n * "\n", id=f"row{n}")
            for n, label in enumerate(labels)]  # fmt: skip
    write_dataset(path, rows)
    return path


def test_an_audit_of_a_clean_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_rows(tmp_path / "a.parquet", "torch.nn.Linear")
    assert main(["synth", "audit", str(path)]) == 0
    assert "1 rows, 0 at fault" in capsys.readouterr().out


def test_an_audit_names_what_it_found(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_rows(tmp_path / "a.parquet", "torch.nn.Linear", "torch.nn.Linear", "torch.nn.Conv2d")
    assert main(["synth", "audit", str(path), "--no-run"]) == 1
    out = capsys.readouterr().out
    assert "row1: duplicate: of candidate 0" in out
    assert "3 rows, 2 at fault" in out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["audit"], "takes nothing, or `audit FILE`"),
        (["audit", "nowhere.parquet"], "not readable as parquet"),
        (["--resume"], "--resume needs --out"),
    ],
)
def test_wrong_use(arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["synth", *arguments]) == 2
    assert words in capsys.readouterr().err


@pytest.mark.slow
def test_a_data_set_is_made(tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "cuda_agent.cli.main",
        "synth",
        "--count",
        "1",
        "--out",
        str(tmp_path / "run"),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "operators: " in done.stdout
    (row,) = read_dataset(tmp_path / "run" / "tasks.parquet")
    assert 1.0 <= row.eager_ms <= 100.0
    assert (tmp_path / "run" / "README.md").read_text().startswith("# 1 tasks")

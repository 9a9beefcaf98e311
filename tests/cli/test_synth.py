"""The verb synth: makes a data set, and audits one."""

import subprocess
import sys
from pathlib import Path

import pyarrow
import pyarrow.parquet
import pytest

from cuda_agent.cli.main import main
from cuda_agent.tasks.dataset import Row, read_dataset, write_dataset
from tests.synthesis.conftest import GOOD, RENAMED


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
        (["audit"], "takes nothing, or `audit FILE`, or `share FILE RUN`"),
        (["share", "nowhere.parquet"], "takes nothing"),
        (["share", "nowhere.parquet", "nowhere"], "not readable as parquet"),
        (["audit", "nowhere.parquet"], "not readable as parquet"),
        (["--out", "a", "--resume"], "--resume a"),
        (["--composer", "llm"], "belong together"),
        (["--policy", "openai:m"], "belong together"),
        (["--composer", "llm", "--policy", "expert"], "belong together"),
    ],
)
def test_wrong_use(arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["synth", *arguments]) == 2
    assert words in capsys.readouterr().err


def test_the_published_layout_is_audited(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Three columns, operators as text, rows without ids."""
    columns = {
        "ops": ['["nn.Linear", "torch.tanh"]', '["nn.Linear", "torch.tanh"]', '["torch.sin"]'],
        "data_source": ["torch#2", "torch#2", "torch#1"],
        "code": [GOOD, RENAMED, GOOD.replace("torch.tanh(x)", "torch.sin(x) * 0")],
    }
    pyarrow.parquet.write_table(pyarrow.table(columns), tmp_path / "p.parquet")
    assert main(["synth", "audit", str(tmp_path / "p.parquet")]) == 1
    out = capsys.readouterr().out
    assert "1: duplicate: of candidate 0" in out
    assert "2: gate: an output is zero" in out
    assert "3 rows, 2 at fault, 0 of them copies" in out


def test_an_audit_compares_with_a_folder_of_kernelbench(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "kb" / "level1").mkdir(parents=True)
    (tmp_path / "kb" / "level1" / "9_wide.py").write_text(
        GOOD.replace("torch.tanh(x)", "torch.softmax(x * 2.0 + 1.0, dim=1).cumsum(1)")
    )
    code = GOOD.replace("torch.tanh(x)", "torch.softmax(x * 7.5 + 3.0, dim=1).cumsum(1)").replace("32", "96")
    row = Row(ops=("torch.softmax", "torch.cumsum"), data_source="torch#2", code=code, id="near")
    write_dataset(tmp_path / "t.parquet", [row])
    arguments = ["synth", "audit", str(tmp_path / "t.parquet"), "--no-run", "--kernelbench"]
    assert main([*arguments, str(tmp_path / "kb")]) == 1
    assert "near: similar: 1.00 to level1/9_wide.py" in capsys.readouterr().out


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

"""`cuda-agent evaluate PAIRS` shows how many, how fast, and what came of them."""

import subprocess
import sys
from pathlib import Path

from pyarrow import parquet

COMMAND = [sys.executable, "-m", "cuda_agent.cli.main", "evaluate"]
TASK = """\
import torch

class Model(torch.nn.Module):
    def forward(self, x):
        return torch.relu(x)

def get_inputs():
    return [torch.randn(4)]

def get_init_inputs():
    return []
"""


def test_submissions_that_break_the_rules_are_counted(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    for name in ("a", "b"):
        (tree / name).mkdir(parents=True)
        (tree / name / "model_new.py").write_text("import os\n")
    (tree / "model.py").write_text(TASK)
    run = tmp_path / "run"
    ended = subprocess.run(
        [*COMMAND, str(tree), "--target", "cpu", "--out", str(run)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    assert "2/2" in ended.stdout
    assert "2 rules:violation" in ended.stdout
    assert "2 x reward -1" in ended.stdout
    rows = parquet.read_table(run / "results.parquet").to_pylist()
    assert [row["verdict"] for row in rows] == ["rules:violation"] * 2


def test_nothing_to_evaluate_is_wrong_use(tmp_path: Path) -> None:
    ended = subprocess.run(
        [*COMMAND, str(tmp_path), "--target", "cpu"], capture_output=True, text=True, check=False
    )
    assert ended.returncode == 2
    assert "nothing to evaluate" in ended.stderr

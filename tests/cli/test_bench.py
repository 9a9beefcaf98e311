"""`cuda-agent bench` holds a suite's episodes, resumes them, and says what they amount to."""

import subprocess
import sys
from pathlib import Path

import pytest
from pyarrow import parquet

COMMAND = [sys.executable, "-m", "cuda_agent.cli.main", "bench"]
SUITE = Path(__file__).parents[1] / "suite"


def run(*arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )


def test_words_that_are_not_understood_are_wrong_use(tmp_path: Path) -> None:
    for words in ((), ("gate",), ("compare", "a"), ("gate", "a", "b")):
        ended = run(*words)
        assert ended.returncode == 2
        assert (
            "bench takes SUITE, judge SUITE SOLUTIONS, baselines SUITE, gate SUITE, report RUN or compare A B"
            in ended.stderr
        )
    assert "no such suite" in run(tmp_path / "absent").stderr
    assert f"--resume {tmp_path}" in run(SUITE, "--target", "cpu", "--out", tmp_path, "--resume").stderr


@pytest.mark.slow
@pytest.mark.timing
def test_a_suite_is_run_resumed_reported_and_compared(tmp_path: Path) -> None:
    out = tmp_path / "out"
    chosen = ("--target", "cpu", "--only", "level1/1", "level2/1")
    ended = run(SUITE, *chosen, "--out", out)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "2 tasks" in ended.stdout
    assert "CUDA Agent (claimed)" in ended.stdout
    rows = parquet.read_table(out / "records.parquet").to_pylist()
    assert [(row["place"], row["status"]) for row in rows] == [
        ("level1/1_relu", "correct"),
        ("level2/1_bias_gelu", "correct"),
    ]
    again = run(SUITE, *chosen, "--resume", out)
    assert again.returncode == 0, again.stderr
    assert len((out / "trajectories.jsonl").read_text().splitlines()) == 2
    compared = run("compare", out, out)
    assert "A wins 0, loses 0, ties 2" in compared.stdout

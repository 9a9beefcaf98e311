"""Solutions made elsewhere are judged by the command, once, and told under every policy."""

import subprocess
import sys
from pathlib import Path

import pytest
from pyarrow import parquet

from cuda_agent.bench.judged import list_results
from cuda_agent.cli.bench_config import BenchConfig
from cuda_agent.cli.bench_judge import judge_suite
from cuda_agent.errors import UserError
from cuda_agent.rundir import RunDir
from cuda_agent.tasks.target import Target

COMMAND = [sys.executable, "-m", "cuda_agent.cli.main", "bench", "judge"]
SUITE = Path(__file__).parents[1] / "suite"
NAME = "level_1_problem_1_sample_{}_kernel.py"
PLAIN = """import torch


class ModelNew(torch.nn.Module):
    def forward(self, x):
        return torch.relu(x)
"""
SOLUTIONS = {
    "plain": PLAIN,
    "broken": "class ModelNew(:\n",
    "hangs": "import time\nimport torch\n\ntime.sleep(1000)\n",
}


def run(*arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )


def test_no_solutions_is_wrong_use(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    ended = run(SUITE, tmp_path / "empty", "--target", "cpu", "--out", tmp_path / "out")
    assert (ended.returncode, ended.stdout) == (2, "")
    assert "holds no solution" in ended.stderr
    assert not (tmp_path / "out").exists()


def test_none_of_the_suite_is_told_and_judged_by_nobody(tmp_path: Path) -> None:
    made = tmp_path / "made"
    made.mkdir()
    (made / "level_9_problem_9_sample_0_kernel.py").write_text(SOLUTIONS["plain"])
    ended = run(SUITE, made, "--target", "cpu", "--only", "level1/1", "--out", tmp_path / "out")
    assert ended.returncode == 1, ended.stderr
    assert (
        "left out: level_9_problem_9_sample_0_kernel.py: the suite has no task of this level" in ended.stdout
    )
    assert "| level1/1_relu | strict | missing |" in ended.stdout


def test_two_at_once_in_one_folder_is_refused(tmp_path: Path) -> None:
    made, out = tmp_path / "made", tmp_path / "out"
    made.mkdir()
    (made / NAME.format(0)).write_text(PLAIN)
    flags = BenchConfig(target=Target.CPU, only=("level1/1_relu",))
    config = flags.build_judged(flags.load_suite(str(SUITE)), made)
    with RunDir.create(out, config), pytest.raises(UserError, match="is being written by process"):
        judge_suite(config, made, out=None, resume=out)
    with pytest.raises(UserError, match="already holds a run"):
        judge_suite(config, made, out=out, resume=None)
    assert list_results(out) == {}


@pytest.mark.slow
def test_bad_solutions_are_judged_under_both_policies_and_not_again(tmp_path: Path) -> None:
    made = tmp_path / "made \x1b[2J"
    made.mkdir()
    for sample, text in enumerate(SOLUTIONS.values()):
        (made / NAME.format(sample)).write_text(text)
    (made / NAME.format(3)).write_bytes(b"\xff\xfe\x00")
    chosen = (SUITE, made, "--target", "cpu", "--only", "level1/1", "--judges", "strict", "paper")
    ended = run(*chosen, "--out", tmp_path / "out")
    assert ended.returncode == 1, ended.stderr
    assert "\x1b" not in ended.stdout + ended.stderr
    assert "strict against paper on the same 4 solutions: 0 differ" in ended.stdout
    rows = parquet.read_table(tmp_path / "out" / "records.parquet").to_pylist()
    verdicts = ["rules:violation", "rules:syntax_error", "rules:violation", "rules:bad_files"]
    assert [(row["judge"], row["number"], row["verdict"]) for row in rows] == [
        (judge, number, verdict) for judge in ("strict", "paper") for number, verdict in enumerate(verdicts)
    ]
    assert "pass@4" in ended.stdout
    before = list_results(tmp_path / "out")
    again = run(*chosen, "--resume", tmp_path / "out")
    assert again.returncode == 1, again.stderr
    assert list_results(tmp_path / "out") == before
    assert len((tmp_path / "out" / "results.jsonl").read_text().splitlines()) == 8

"""A gate's run tells every task that does not pass."""

from pathlib import Path

import pytest

from cuda_agent.bench.gate import GateRecord, Standing
from cuda_agent.bench.load import write_records
from cuda_agent.bench.suite import load_suite
from cuda_agent.cli.bench_report import GATE, compare_runs, gate_suite, report_run
from cuda_agent.errors import UserError
from cuda_agent.rundir import read_records
from cuda_agent.sandbox.protocol import Sandbox
from tests.bench.conftest import build_record

SUITE = Path(__file__).parents[1] / "suite"


def test_the_suite_is_gated(tmp_path: Path, sandbox: Sandbox, capsys: pytest.CaptureFixture[str]) -> None:
    assert gate_suite(load_suite(SUITE), sandbox=sandbox, out=tmp_path / "gate") == 1
    printed = capsys.readouterr().out
    assert "level2/2_all_ones: fails: an output is constant" in printed
    assert "level 1: 4 tasks: 4 passes" in printed
    records = read_records(tmp_path / "gate" / GATE, GateRecord)
    assert [record.standing for record in records] == [Standing.PASSES] * 5 + [Standing.FAILS]


def test_records_are_reported_and_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, speedup in (("a.jsonl", 2.0), ("b.jsonl", None)):
        write_records(tmp_path / name, [build_record("t-0", speedup)])
    assert report_run(tmp_path / "a.jsonl") == 0
    assert report_run(tmp_path / "b.jsonl") == 1
    assert compare_runs(tmp_path / "a.jsonl", tmp_path / "b.jsonl") == 0
    assert "A wins 1, loses 0, ties 0" in capsys.readouterr().out
    write_records(tmp_path / "c.jsonl", [build_record("other-0", 1.0)])
    with pytest.raises(UserError, match="no task in common"):
        compare_runs(tmp_path / "a.jsonl", tmp_path / "c.jsonl")

"""A gate's run tells every task that does not pass."""

from pathlib import Path

import pytest

from cuda_agent.bench.gate import Basis, GateRecord, Standing
from cuda_agent.bench.load import write_records
from cuda_agent.bench.suite import load_suite
from cuda_agent.cli.bench_report import GATE, compare_runs, gate_suite, report_run
from cuda_agent.errors import UserError
from cuda_agent.rundir import read_records
from cuda_agent.sandbox.protocol import Sandbox
from tests.bench.conftest import build_record

SUITE = Path(__file__).parents[1] / "suite"


def test_the_suite_is_gated(tmp_path: Path, sandbox: Sandbox, capsys: pytest.CaptureFixture[str]) -> None:
    assert gate_suite(load_suite(SUITE), sandbox=sandbox, out=tmp_path / "gate", resume=None) == 1
    printed = capsys.readouterr().out
    assert "level2/2_all_ones: fails: an output is constant" in printed
    assert "level 1: 4 tasks: 4 passes" in printed
    records = read_records(tmp_path / "gate" / GATE, GateRecord)
    standings = {record.place: record.standing for record in records}
    assert standings.pop("level2/2_all_ones") is Standing.FAILS
    assert list(standings.values()) == [Standing.PASSES] * 5


def test_a_gate_goes_on_where_it_was_ended(
    tmp_path: Path, sandbox: Sandbox, capsys: pytest.CaptureFixture[str]
) -> None:
    suite = load_suite(SUITE, only=["level1/1", "level1/10"])
    folder = tmp_path / "gate"
    gate_suite(suite, sandbox=sandbox, out=folder, resume=None)
    first, second = (folder / GATE).read_bytes().splitlines(keepends=True)
    (folder / GATE).write_bytes(first + second[: len(second) // 2])  # killed while it wrote
    assert gate_suite(suite, sandbox=sandbox, out=None, resume=folder) == 0
    assert "1 tasks in" in capsys.readouterr().out
    assert len(read_records(folder / GATE, GateRecord)) == 2


def test_what_a_gate_found_stands_beside_the_numbers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_records(tmp_path / "a.jsonl", [build_record("t-0", 2.0), build_record("u-0")])
    (tmp_path / "gate").mkdir()
    found = GateRecord(
        task_id="u-0",
        place="u",
        level=0,
        standing=Standing.FAILS,
        reason="an output is zero",
        basis=Basis.FULL,
    )
    (tmp_path / "gate" / GATE).write_text(found.model_dump_json() + "\n")
    assert report_run(tmp_path / "a.jsonl", gate=tmp_path / "gate") == 1
    printed = capsys.readouterr().out
    assert "| p, judge strict | all | 2 | 50.0" in printed
    assert "| p, judge strict | all, worth judging | 1 | 100.0" in printed
    assert "- u-0: an output is zero" in printed
    with pytest.raises(UserError, match="holds no gate"):
        report_run(tmp_path / "a.jsonl", gate=tmp_path)


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

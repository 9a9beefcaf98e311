"""`cuda-agent bench`: what a suite is, which of its tasks pass the gate, and what runs amount to."""

import itertools
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from cuda_agent.bench.compare import compare
from cuda_agent.bench.floor import add_floors
from cuda_agent.bench.gate import GateRecord, Standing, describe_gate, flag_gated
from cuda_agent.bench.load import RECORDS, load_records, write_records
from cuda_agent.bench.metrics import choose_best
from cuda_agent.bench.protocols import pair_opinions
from cuda_agent.bench.published import load_published
from cuda_agent.bench.record import BenchRecord
from cuda_agent.bench.suite import Suite
from cuda_agent.bench.summary import Row, list_refused, summarise
from cuda_agent.bench.surveyor import survey_suite
from cuda_agent.bench.tables import (
    render_comparison,
    render_csv,
    render_pairings,
    render_refused,
    render_summary,
    render_tasks,
    render_tries,
    write_parquet,
)
from cuda_agent.cli.console import build_console
from cuda_agent.cli.exit_code import ExitCode
from cuda_agent.cli.pace import Pace
from cuda_agent.cli.run_folder import open_run, tell_run
from cuda_agent.config import Config
from cuda_agent.errors import UserError
from cuda_agent.printable import make_printable
from cuda_agent.rundir import read_records
from cuda_agent.sandbox.protocol import Sandbox

GATE = "gate.jsonl"
"""Where a gate's run keeps where each task stands."""


class GateConfig(Config):
    """What a gate's run depends on."""

    suite: Suite
    """The tasks that are looked at."""


def describe_suite(suite: Suite) -> None:
    """Say what a suite is, and what of it is left out."""
    print(
        make_printable(f"suite {suite.name}: {suite.kind.value}, {suite.version}, {len(suite.tasks)} tasks")
    )
    for left in suite.left_out:
        print(make_printable(f"left out: {left.place}: {left.reason}"))


def gate_suite(suite: Suite, *, sandbox: Sandbox, out: Path | None, resume: Path | None) -> int:
    """Look at every task that was not yet, tell those that do not pass, and keep all of them in a folder."""
    describe_suite(suite)
    console = build_console()
    with open_run("gate", GateConfig(suite=suite), out=out, resume=resume) as run:
        tell_run(run)
        known = {record.task_id: record for record in run.read(GATE, GateRecord)}
        left = [each for each in suite.tasks if each.task.task_id not in known]
        pace = Pace(len(left))
        with console.status("starting") as status, closing(survey_suite(left, sandbox=sandbox)) as records:
            for number, record in enumerate(records, start=1):
                run.append(GATE, record, is_forced=False)
                known[record.task_id] = record
                status.update(pace.tell(number))
                if record.standing is not Standing.PASSES:
                    form = f" [as {record.changes}]" if record.changes else ""
                    line = f"{record.place}: {record.standing.value}: {record.reason}{form}"
                    console.print(make_printable(line), markup=False, soft_wrap=True)
        print(describe_gate(list(known.values())))
        print(f"{pace.total} tasks in {pace.elapsed_s:.0f} s; all {len(known)} in {run.path / GATE}")
    passed = all(record.standing is Standing.PASSES for record in known.values())
    return ExitCode.DONE if passed else ExitCode.NOT_VERIFIED


def report_run(path: Path, *, gate: Path | None = None, gflop_per_s: float | None = None) -> int:
    """Tell what a run amounts to, beside what was published, and write its tables into its folder.

    Args:
        path: the run's folder, or a file of records.
        gate: the folder of a `bench gate` run, whose findings are set beside the numbers.
        gflop_per_s: the device's rate, for floors of operations; they are known from the gate's run.

    Raises:
        UserError: one of them holds no result.
    """
    tries = load_records(path)
    if gate is not None:
        found = _read_gate(gate)
        tries = add_floors(flag_gated(tries, found), found, gflop_per_s=gflop_per_s)
    rows = summarise(tries)
    text = _render_report(tries, rows)
    print(text)
    if path.is_dir():
        _write_report(path, tries, rows=rows, text=text)
    best = [record for judged in _group_by_judge(tries).values() for record in choose_best(judged)]
    return ExitCode.DONE if all(record.is_correct for record in best) else ExitCode.NOT_VERIFIED


def _render_report(tries: Sequence[BenchRecord], rows: Sequence[Row]) -> str:
    policies = " + ".join(sorted({record.policy for record in tries}))
    published = load_published() if any(row.level for row in rows) else None
    by_judge = _group_by_judge(tries)
    parts = [
        render_summary(rows, policies, published=published),
        render_tries(rows),
        render_refused(list_refused(tries)),
        *(
            render_pairings(pair_opinions(tries, first, second=second), first, second=second)
            for first, second in itertools.combinations(by_judge, 2)
        ),
        render_tasks([record for judged in by_judge.values() for record in choose_best(judged)]),
    ]
    return "\n".join(filter(None, parts))


def _write_report(path: Path, tries: Sequence[BenchRecord], *, rows: Sequence[Row], text: str) -> None:
    (path / "report.md").write_text(text, encoding="utf-8")
    (path / "records.csv").write_text(render_csv(tries), encoding="utf-8")
    lines = ",\n".join(row.model_dump_json() for row in rows)
    (path / "summary.json").write_text(f"[\n{lines}\n]\n", encoding="utf-8")
    write_records(path / RECORDS, tries)
    write_parquet(path / "records.parquet", tries)
    print(f"written to {path}: report.md, records.csv, {RECORDS}, records.parquet, summary.json")


def _group_by_judge(tries: Sequence[BenchRecord]) -> dict[str, list[BenchRecord]]:
    judges = dict.fromkeys(record.judge for record in tries)
    return {judge: [record for record in tries if record.judge == judge] for judge in judges}


def _read_gate(folder: Path) -> tuple[GateRecord, ...]:
    records = read_records(folder / GATE, GateRecord)
    if not records:
        raise UserError(f"{folder} holds no {GATE}; give the folder of a `bench gate` run")
    return records


def compare_runs(a: Path, b: Path) -> int:
    """Tell who wins which task."""
    try:
        found = compare(load_records(a), load_records(b))
    except UserError:
        raise
    except ValueError as error:
        raise UserError(f"{a} and {b}: {error}") from error
    print(f"A is {a}, B is {b}")
    print(render_comparison(found))
    return ExitCode.DONE

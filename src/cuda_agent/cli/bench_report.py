"""`cuda-agent bench`: what a suite is, which of its tasks pass the gate, and what runs amount to."""

import time
from pathlib import Path

from rich.markup import escape

from cuda_agent.bench.compare import compare
from cuda_agent.bench.gate import GateRecord, Standing, describe_gate
from cuda_agent.bench.load import RECORDS, load_records, write_records
from cuda_agent.bench.metrics import choose_best
from cuda_agent.bench.published import load_published
from cuda_agent.bench.suite import Suite
from cuda_agent.bench.summary import summarise
from cuda_agent.bench.surveyor import Surveyor
from cuda_agent.bench.tables import (
    render_comparison,
    render_csv,
    render_summary,
    render_tasks,
    write_parquet,
)
from cuda_agent.cli.console import build_console
from cuda_agent.cli.exit_code import ExitCode
from cuda_agent.config import Config
from cuda_agent.errors import UserError
from cuda_agent.printable import make_printable
from cuda_agent.rundir import RunDir, build_default_path
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


def gate_suite(suite: Suite, *, sandbox: Sandbox, out: Path | None) -> int:
    """Look at every task, tell those that do not pass, and keep all of them in a folder."""
    describe_suite(suite)
    console = build_console()
    folder = out or build_default_path("gate")
    start_s = time.monotonic()
    records: list[GateRecord] = []
    with RunDir.create(folder, GateConfig(suite=suite)) as run, Surveyor(sandbox=sandbox) as surveyor:
        with console.status("starting") as status:
            for number, each in enumerate(suite.tasks):
                left_s = (time.monotonic() - start_s) / max(number, 1) * (len(suite.tasks) - number)
                status.update(escape(f"{number}/{len(suite.tasks)}, {left_s:.0f} s left: {each.place}"))
                record = surveyor.survey(each)
                run.append(GATE, record, is_forced=False)
                records.append(record)
                if record.standing is not Standing.PASSES:
                    form = f" [as {record.changes}]" if record.changes else ""
                    line = f"{record.place}: {record.standing.value}: {record.reason}{form}"
                    console.print(make_printable(line), markup=False, soft_wrap=True)
        print(describe_gate(records))
        print(f"{len(records)} tasks in {time.monotonic() - start_s:.0f} s; all in {run.path / GATE}")
    passed = all(record.standing is Standing.PASSES for record in records)
    return ExitCode.DONE if passed else ExitCode.NOT_VERIFIED


def report_run(path: Path) -> int:
    """Tell what a run amounts to, beside what was published, and write its tables into its folder."""
    tries = load_records(path)
    best = choose_best(tries)
    rows = summarise(tries)
    policies = " + ".join(sorted({record.policy for record in tries}))
    judges = ", ".join(sorted({record.judge for record in tries} - {""})) or "none"
    has_levels = any(row.level for row in rows)
    published = load_published() if has_levels else None
    summary = render_summary(rows, f"{policies}, judge {judges}", published=published)
    text = f"{summary}\n{render_tasks(best)}"
    print(text)
    if path.is_dir():
        (path / "report.md").write_text(text, encoding="utf-8")
        (path / "records.csv").write_text(render_csv(tries), encoding="utf-8")
        lines = ",\n".join(row.model_dump_json() for row in rows)
        (path / "summary.json").write_text(f"[\n{lines}\n]\n", encoding="utf-8")
        write_records(path / RECORDS, tries)
        write_parquet(path / "records.parquet", tries)
        print(f"written to {path}: report.md, records.csv, {RECORDS}, records.parquet, summary.json")
    return ExitCode.DONE if all(record.is_correct for record in best) else ExitCode.NOT_VERIFIED


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

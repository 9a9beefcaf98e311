"""What the verb synth prints and writes."""

import collections
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from rich.markup import escape
from rich.table import Table

from cuda_agent.cli.console import build_console
from cuda_agent.cli.exit_code import ExitCode
from cuda_agent.errors import UserError
from cuda_agent.printable import make_printable
from cuda_agent.rundir import RunDir
from cuda_agent.sandbox.protocol import Sandbox
from cuda_agent.synthesis.audit import AuditResult, Fault, run_audit
from cuda_agent.synthesis.card import CARD
from cuda_agent.synthesis.crawl import Crawl
from cuda_agent.synthesis.fate import Fate, Filter
from cuda_agent.synthesis.output import DATASET
from cuda_agent.synthesis.probe import Probe
from cuda_agent.synthesis.recipe import Recipe
from cuda_agent.synthesis.similarity import Print
from cuda_agent.tasks.dataset import read_dataset

_SHOWN = 20


def show_crawl(found: Crawl) -> None:
    """Print how many operators were found, are used and are left out, with the commonest reasons."""
    libraries = collections.Counter(operator.package for operator in found.operators)
    used = ", ".join(f"{count} of {library}" for library, count in sorted(libraries.items()))
    total = len(found.operators) + len(found.left_out)
    print(f"operators: {total} found, {len(found.operators)} used ({used}), {len(found.left_out)} left out")
    reasons = collections.Counter(reason.partition(":")[0] for reason in found.left_out.values())
    for reason, count in reasons.most_common():
        print(f"  {count:4d} {reason}")


def show_fate(fate: Fate) -> None:
    """Print what became of a candidate, as one line."""
    names = " + ".join(name.rpartition(".")[2] for name in fate.candidate.ops)
    measured = fate.measured
    times = f"eager {measured.eager_ms:.3g} ms, compile {measured.compile_ms:.3g} ms"
    verdict = f"kept: {times}" if fate.is_kept else f"{fate.dropped_by}: {fate.reason}"
    line = f"[{fate.candidate.number}] {names}: {verdict} ({fate.seconds:.1f} s)"
    print(make_printable(line), flush=True)


def show_rate(fates: Sequence[Fate], *, count: int, seconds: float) -> None:
    """Print how many are kept, how long this sitting took, and whether more are wished."""
    kept = sum(fate.is_kept for fate in fates)
    more = "" if kept >= count else f"; stopped by --minutes, {count} were wished: --resume goes on"
    print(f"{kept} kept of {len(fates)} candidates; this sitting took {seconds:.0f} s{more}")


def show_funnel(fates: Sequence[Fate], run: RunDir) -> None:
    """Print what each filter dropped, and where the data set and its card are."""
    table = Table("filter", "dropped")
    for filter_ in Filter:
        table.add_row(filter_.value, str(sum(fate.dropped_by is filter_ for fate in fates)))
    table.add_row("kept", str(sum(fate.is_kept for fate in fates)))
    build_console().print(table)
    print(f"data set: {run.path / DATASET} (its card: {run.path / CARD})")


def audit_dataset(
    file: Path, *, recipe: Recipe, kernelbench: dict[str, Print], sandbox: Sandbox | None
) -> int:
    """Audit a data set and print what was found; 1 where anything was."""
    rows = read_dataset(file)
    if not rows:
        raise UserError(f"{file}: holds no rows")
    with ExitStack() as stack:
        probe = stack.enter_context(Probe(sandbox=sandbox, target=recipe.target)) if sandbox else None
        found = run_audit(rows, recipe=recipe, kernelbench=kernelbench, probe=probe, observe=lambda _: None)
    _show_audit(found)
    return ExitCode.NOT_VERIFIED if found.faults else ExitCode.DONE


def _show_audit(found: AuditResult) -> None:
    counts = collections.Counter(fault.found_by for fault in found.faults)
    table = Table("check", "rows at fault", "the first of them")
    for filter_ in Filter:
        if counts[filter_]:
            first = next(fault for fault in found.faults if fault.found_by is filter_)
            table.add_row(
                filter_.value, str(counts[filter_]), escape(make_printable(f"{first.id}: {first.reason}"))
            )
    console = build_console()
    console.print(table)
    for fault in found.faults[:_SHOWN]:
        console.print(escape(f"  {_tell(fault)}"), soft_wrap=True)
    if len(found.faults) > _SHOWN:
        print(f"  and {len(found.faults) - _SHOWN} more")
    print(
        f"{found.rows} rows, {len(found.faults)} at fault, {found.copies} of them copies byte for byte; "
        f"compared with {found.compared_with} KernelBench tasks; "
        f"{'run in the sandbox' if found.is_run else 'not run'}"
    )


def _tell(fault: Fault) -> str:
    return make_printable(f"{fault.id}: {fault.found_by}: {fault.reason}")

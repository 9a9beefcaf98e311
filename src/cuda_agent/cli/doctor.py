"""Say what this machine can do, what is missing, and how to get it."""

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from cuda_agent.cli.console import build_console
from cuda_agent.cli.exit_code import ExitCode
from cuda_agent.config import Config
from cuda_agent.environment import doctor
from cuda_agent.sandbox.build import build_sandbox
from cuda_agent.sandbox.protocol import Containment, Sandbox
from cuda_agent.sandbox.selftest import PromiseStatus, run_selftest

COLOURS = {
    doctor.CheckStatus.OK: "green",
    doctor.CheckStatus.WEAK: "yellow",
    doctor.CheckStatus.MISSING: "red",
    PromiseStatus.HELD: "green",
    PromiseStatus.NOT_PROMISED: "yellow",
    PromiseStatus.NOT_HELD: "red",
}


class DoctorConfig(Config):
    """What to look at."""

    sandbox: bool = False
    """Also try each promise of the sandbox, with real attempts to break out."""
    containment: Containment = Containment.AUTO
    """Which sandbox to try."""


def run_doctor(config: DoctorConfig) -> int:
    """Print what was found; 0 when tasks can be made faster here (on cpu at least) and no promise broke."""
    console = build_console()
    checks = doctor.run_doctor()
    console.print(_build_table(checks))
    fine = doctor.can_run(checks)
    verdict = (
        "can make tasks faster" if fine else "cannot make tasks faster until the missing parts are there"
    )
    console.print(f"This machine {verdict}.")
    if config.sandbox:
        fine = _show_selftest(console, build_sandbox(config.containment)) and fine
    return ExitCode.DONE if fine else ExitCode.NOT_VERIFIED


def _build_table(checks: tuple[doctor.Check, ...]) -> Table:
    table = Table("what", "status", "found", "how to mend it")
    for check in checks:
        is_optional = check.status is doctor.CheckStatus.MISSING and not check.is_needed
        colour = "yellow" if is_optional else COLOURS[check.status]
        table.add_row(check.name, f"[{colour}]{check.status}", escape(check.found), escape(check.mend))
    return table


def _show_selftest(console: Console, sandbox: Sandbox) -> bool:
    """Print every promise; whether none was broken."""
    promises = run_selftest(sandbox)
    table = Table(f"a command in the {sandbox.containment} sandbox", "status", "what the attempt saw")
    for promise in promises:
        table.add_row(promise.name, f"[{COLOURS[promise.status]}]{promise.status}", escape(promise.detail))
    console.print(table)
    return all(promise.status is not PromiseStatus.NOT_HELD for promise in promises)

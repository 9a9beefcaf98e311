"""`cuda-agent bench baselines SUITE`: eager and torch.compile of a whole suite, as a table to keep."""

from pathlib import Path

from rich.markup import escape

from cuda_agent.bench.baselines import (
    BASELINES,
    BaselineRow,
    BaselinesConfig,
    BaselineStatus,
    measure_suite,
    render_baselines,
    write_baselines,
)
from cuda_agent.cli.bench_report import describe_suite
from cuda_agent.cli.console import build_console
from cuda_agent.cli.exit_code import ExitCode
from cuda_agent.cli.pace import Pace
from cuda_agent.cli.run_folder import open_run, tell_run
from cuda_agent.sandbox.build import build_sandbox

TABLE = "baselines.parquet"
"""The table, in the run's folder."""


def time_suite(config: BaselinesConfig, *, out: Path | None, resume: Path | None) -> int:
    """Time what the folder does not hold yet, and write the table.

    Raises:
        UserError: the run's folder cannot be used.
        InfrastructureError: the machine failed; what was timed is kept.
    """
    describe_suite(config.suite)
    console = build_console()
    with open_run("bench-baselines", config, out=out, resume=resume) as run:
        tell_run(run)
        rows = list(run.read(BASELINES, BaselineRow))
        pace = Pace(len(config.suite.tasks) * len(config.modes) - len(rows))
        with console.status("starting") as status:
            measured = measure_suite(config, sandbox=build_sandbox(config.containment), done=tuple(rows))
            for number, row in enumerate(measured, start=1):
                run.append(BASELINES, row)
                rows.append(row)
                status.update(escape(f"{pace.tell(number)}: {row.place} {row.mode.value}"))
        order = {each.task.task_id: place for place, each in enumerate(config.suite.tasks)}
        rows.sort(key=lambda row: (order[row.task_id], config.modes.index(row.mode)))
        write_baselines(run.path / TABLE, rows)
        print(render_baselines(rows))
        print(f"{len(rows)} rows, {pace.total} of them new in {pace.elapsed_s:.0f} s: {run.path / TABLE}")
    is_whole = all(row.status is BaselineStatus.TIMED for row in rows)
    return ExitCode.DONE if is_whole else ExitCode.NOT_VERIFIED

"""How fast a suite's references are without any submission: eager and torch.compile's modes, as a table."""

from collections.abc import Iterator, Sequence
from enum import StrEnum
from pathlib import Path

import pyarrow
import pyarrow.parquet

from cuda_agent.bench.suite import Suite, SuiteTask
from cuda_agent.bench.tables import render_markdown
from cuda_agent.config import Config, Record
from cuda_agent.judge.baseline import Baseline
from cuda_agent.judge.baseline_meter import BaselineMeter
from cuda_agent.judge.policy import load_policy
from cuda_agent.judge.protocol import CompileMode
from cuda_agent.judge.result import Ratio, TaskResult, TaskStatus
from cuda_agent.sandbox.protocol import Containment, Sandbox
from cuda_agent.tasks.target import Target

BASELINES = "baselines.jsonl"
"""Where a run keeps them, as they come."""


class BaselineStatus(StrEnum):
    """What came of a task's baselines in one mode."""

    TIMED = "timed"
    """Both have times."""
    BLUNT = "blunt"
    """Both have times, which scatter too much to be of use: the machine was busy."""
    EAGER_ALONE = "eager_alone"
    """torch.compile cannot run the reference in this mode."""
    REFUSED = "refused"
    """The gate refuses the task, or it does not fit: nothing was timed."""
    FAILED = "failed"
    """The reference, or timing it, failed."""


class BaselinesConfig(Config):
    """What a table of baselines depends on."""

    suite: Suite
    """The tasks."""
    target: Target
    """Where they run."""
    policy: str
    """The judge policy, whose precision, calls and rounds are used."""
    modes: tuple[CompileMode, ...]
    """torch.compile's modes, each timed against eager anew."""
    containment: Containment = Containment.AUTO
    """How the references are contained."""


class BaselineRow(Record):
    """One task in one mode."""

    task_id: str
    """The task's readable id, by which it is joined."""
    place: str
    """Where the task is in its suite."""
    level: int
    """Its level; 0 where the suite has none."""
    problem: int
    """Its number within the level; 0 where it has none."""
    target: Target
    """Where it ran."""
    policy: str
    """The judge policy."""
    mode: CompileMode
    """torch.compile's mode."""
    status: BaselineStatus
    """What came of it."""
    reason: str = ""
    """Why something is missing."""
    eager_ms: float | None = None
    """Median time of a call in eager mode."""
    compiled_ms: float | None = None
    """The same under torch.compile in this mode."""
    speedup: Ratio | None = None
    """How many times faster torch.compile is."""
    device: str = ""
    """The device's name."""
    versions: dict[str, str] = {}
    """Versions of torch, driver, runtime."""
    copy_gb_per_s: float | None = None
    """How fast the device copied then, bytes read plus bytes written."""
    measured: str = ""
    """When, in UTC."""


def measure_suite(
    config: BaselinesConfig, *, sandbox: Sandbox, done: Sequence[BaselineRow] = ()
) -> Iterator[BaselineRow]:
    """The rows that are not done, task by task; a task that cannot be timed has its rows too.

    Raises:
        InfrastructureError: this machine could not start a process.
    """
    known = {(row.task_id, row.mode) for row in done}
    for each in config.suite.tasks:
        modes = [mode for mode in config.modes if (each.task.task_id, mode) not in known]
        if modes:
            yield from _measure_task(each, modes, config=config, sandbox=sandbox)


def _measure_task(
    each: SuiteTask, modes: Sequence[CompileMode], *, config: BaselinesConfig, sandbox: Sandbox
) -> Iterator[BaselineRow]:
    policy = load_policy(config.policy)
    with BaselineMeter(each.task, target=config.target, sandbox=sandbox, policy=policy) as meter:
        for mode in modes:
            found: Baseline | TaskResult = meter.open()
            if isinstance(found, TaskResult) and found.is_judged:
                found = meter.measure(mode)
            yield _build_row(each, mode, config=config, meter=meter, found=found)


def _build_row(
    each: SuiteTask,
    mode: CompileMode,
    *,
    config: BaselinesConfig,
    meter: BaselineMeter,
    found: Baseline | TaskResult,
) -> BaselineRow:
    row = BaselineRow(
        task_id=each.task.task_id,
        place=each.place,
        level=each.level,
        problem=each.problem,
        target=config.target,
        policy=config.policy,
        mode=mode,
        status=BaselineStatus.FAILED,
    )
    if isinstance(found, TaskResult):
        is_failed = found.status is TaskStatus.FAILED
        status = BaselineStatus.FAILED if is_failed else BaselineStatus.REFUSED
        return row.model_copy(update={"status": status, "reason": found.reason})
    return row.model_copy(
        update={
            "status": find_status(found),
            "reason": found.compile_error,
            "eager_ms": found.eager.median_ms,
            "compiled_ms": found.compiled.median_ms if found.compiled else None,
            "speedup": found.compiled_speedup,
            "device": meter.device,
            "versions": meter.versions,
            "copy_gb_per_s": meter.copy_gb_per_s,
            "measured": found.measured,
        }
    )


def find_status(found: Baseline) -> BaselineStatus:
    """What times amount to."""
    if found.compiled is None:
        return BaselineStatus.EAGER_ALONE
    return BaselineStatus.TIMED if found.is_useful else BaselineStatus.BLUNT


_TEXT, _NUMBER, _WHOLE = pyarrow.string(), pyarrow.float64(), pyarrow.int64()
SCHEMA = pyarrow.schema(
    [
        *((name, _TEXT) for name in ("task_id", "place")),
        *((name, _WHOLE) for name in ("level", "problem")),
        *((name, _TEXT) for name in ("target", "policy", "mode", "status", "reason")),
        *((name, _NUMBER) for name in ("eager_ms", "compiled_ms", "speedup", "speedup_low", "speedup_high")),
        *((name, _TEXT) for name in ("device", "versions")),
        ("copy_gb_per_s", _NUMBER),
        ("measured", _TEXT),
    ]
)
"""The columns of a table of baselines; those of numbers are empty where a row has none."""


def write_baselines(path: Path, rows: Sequence[BaselineRow]) -> None:
    """Write rows as parquet, every column typed."""
    table = pyarrow.Table.from_pylist(list(map(_flatten, rows)), schema=SCHEMA)
    pyarrow.parquet.write_table(table, path, compression="zstd")


def _flatten(row: BaselineRow) -> dict[str, object]:
    ratio = row.speedup
    ends = (ratio.point, ratio.low, ratio.high) if ratio else (None, None, None)
    versions = ", ".join(f"{name} {version}" for name, version in sorted(row.versions.items()))
    return (
        row.model_dump(mode="json")
        | dict(zip(("speedup", "speedup_low", "speedup_high"), ends, strict=True))
        | {"versions": versions}
    )


def render_baselines(rows: Sequence[BaselineRow]) -> str:
    """Rows in Markdown, one line each."""
    lines = [
        [
            row.place,
            row.mode.value,
            row.status.value,
            "-" if row.eager_ms is None else f"{row.eager_ms:.4g}",
            "-" if row.compiled_ms is None else f"{row.compiled_ms:.4g}",
            f"{row.speedup.point:.2f}x ({row.speedup.low:.2f} to {row.speedup.high:.2f})"
            if row.speedup
            else "-",
            row.reason[:160],
        ]
        for row in rows
    ]
    return render_markdown(["task", "mode", "status", "eager ms", "compile ms", "speed-up", "reason"], lines)

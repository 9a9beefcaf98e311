"""Those of a run's tasks that the gate refuses: no episode is held for them, and the run says why."""

from collections.abc import Mapping
from pathlib import Path

from pydantic import ValidationError

from cuda_agent.config import Record
from cuda_agent.errors import UserError
from cuda_agent.judge.result import TaskResult
from cuda_agent.rundir import RunDir

REFUSED = "refused.json"
"""Where a run keeps them."""


class Refused(Record):
    """The whole of `refused.json`."""

    tasks: dict[str, TaskResult] = {}
    """What the gate says of each, by task id."""


def write_refused(run: RunDir, tasks: Mapping[str, TaskResult]) -> None:
    """Write which tasks are refused now; a run without any has no such file."""
    if tasks:
        run.write_text(REFUSED, Refused(tasks=dict(tasks)).model_dump_json(indent=1))
    else:
        run.remove(REFUSED)


def read_refused(run: Path) -> dict[str, TaskResult]:
    """What the gate says of each refused task of a run's folder, by task id.

    Raises:
        UserError: the file is damaged.
    """
    file = run / REFUSED
    if not file.exists():
        return {}
    try:
        return Refused.model_validate_json(file.read_bytes()).tasks
    except ValidationError as error:
        raise UserError(f"{file} is damaged: `cuda-agent run --resume {run}` writes it anew") from error

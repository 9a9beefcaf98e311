"""Our tasks in verl's columns, and back."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow

from cuda_agent.agent.limits import EpisodeLimits
from cuda_agent.agent.prompt import build_prompt
from cuda_agent.errors import UserError
from cuda_agent.rl.verl_adapter.token_rows import write_table
from cuda_agent.tasks.dataset import Row
from cuda_agent.tasks.target import Target
from cuda_agent.tasks.task import Task


def write_task_rows(path: Path, rows: Sequence[Row], *, target: Target, limits: EpisodeLimits) -> None:
    """Write tasks as verl reads them: data_source, prompt, reward_model and extra_info.

    The program is the ground truth that the judge compares with; the prompt is the one an episode begins
    with, so verl filters by its true length.

    Raises:
        UserError: the place cannot be written.
    """
    columns = [_build_columns(row, number, prompt=_list_prompt(row, target, limits=limits))
               for number, row in enumerate(rows)]  # fmt: skip
    write_table(path, pyarrow.Table.from_pylist(columns))


def read_task(row: Mapping[str, Any]) -> Task:
    """The task of a row as verl hands it to an agent loop.

    Raises:
        UserError: the row is not one of ours.
    """
    try:
        name, source = row["extra_info"]["name"], row["reward_model"]["ground_truth"]
    except (KeyError, TypeError) as error:
        raise UserError(
            "a row has no reward_model.ground_truth and extra_info.name; write the file with write_task_rows"
        ) from error
    return Task(name=name, source=source)


def _list_prompt(row: Row, target: Target, *, limits: EpisodeLimits) -> list[dict[str, str]]:
    task = Task(name=_name(row), source=row.code)
    messages = build_prompt(task, target=target, limits=limits)
    return [{"role": message.role.value, "content": message.content} for message in messages]


def _build_columns(row: Row, number: int, *, prompt: list[dict[str, str]]) -> dict[str, Any]:
    return {
        "data_source": row.data_source,
        "prompt": prompt,
        "reward_model": {"style": "rule", "ground_truth": row.code},
        "extra_info": {
            "index": number,
            "split": row.split,
            "name": _name(row),
            "ops": json.dumps(list(row.ops)),
        },
    }


def _name(row: Row) -> str:
    return row.id or "task"

"""Many submissions with the tasks that they are for, as a list or as a tree of folders.

A list is a .jsonl file, one `{"id": ..., "task": FILE.py, "submission": FOLDER}` a line (`id` may lack),
with paths relative to the list; a task may be a data set's row (`FILE.parquet#ID`), a submission one Python
file. In a tree, every folder that holds a model_new.py is a submission, and its
task is the model.py beside it or in the nearest folder above, within the tree.
"""

import json
import os
from collections.abc import Iterator
from pathlib import Path

from pydantic import ValidationError

from cuda_agent.config import Record
from cuda_agent.environment.submission import MODEL_FILE
from cuda_agent.errors import UserError
from cuda_agent.tasks.task import Task

REFERENCE_FILE = "model.py"


class Pair(Record):
    """A submission and its task."""

    pair_id: str
    """Unique within the list or tree."""
    task: Path | Task
    """The task's file or data set's row, or the task itself."""
    submission: Path
    """The submission's folder, or its one file."""


def read_pairs(path: Path) -> tuple[Pair, ...]:
    """The pairs of a list or of a tree, in order.

    Raises:
        UserError: there is none, a line is not understood, a submission has no task, or an id comes twice.
    """
    pairs = tuple(_read_tree(path) if path.is_dir() else _read_list(path))
    if not pairs:
        raise UserError(f"{path} holds no {MODEL_FILE}: nothing to evaluate")
    seen: set[str] = set()
    for pair in pairs:
        if pair.pair_id in seen:
            raise UserError(f"{path}: the id {pair.pair_id!r} comes twice")
        seen.add(pair.pair_id)
    return pairs


def _read_list(path: Path) -> Iterator[Pair]:
    if path.suffix == ".py":
        raise UserError(
            f"{path} is a task: give its submission's folder too (cuda-agent evaluate TASK.py FOLDER), "
            f"or instead a .jsonl list or a folder of many"
        )
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path} cannot be read: {error}") from error
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            entry = json.loads(line)
            yield Pair(
                pair_id=str(entry.get("id", entry["submission"])),
                task=path.parent / entry["task"],
                submission=path.parent / entry["submission"],
            )
        except (ValueError, KeyError, TypeError, AttributeError, ValidationError) as error:
            wanted = '{"id": ..., "task": "FILE.py", "submission": "FOLDER"}'
            raise UserError(f"{path}, line {number}: {error!r}; write {wanted}") from error


def _read_tree(root: Path) -> Iterator[Pair]:
    for place, folders, files in os.walk(root):
        folders.sort()
        folder = Path(place)
        if MODEL_FILE in files:
            name = folder.relative_to(root).as_posix()
            yield Pair(pair_id=name, task=_find_task(folder, root), submission=folder)


def _find_task(folder: Path, root: Path) -> Path:
    for place in (folder, *folder.parents):
        if (place / REFERENCE_FILE).is_file():
            return place / REFERENCE_FILE
        if place == root:
            break
    raise UserError(f"{folder} has no task: put {REFERENCE_FILE} beside {MODEL_FILE}, or above it in {root}")

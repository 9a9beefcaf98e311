"""A suite: the tasks of a benchmark, each with its place, and a statement of what the suite is.

Recognised are a KernelBench checkout or its parquet files, a data set of ours (parquet), and any folder of
task files. A file that is no task, and a task that comes twice, stay on record: none is dropped in silence.
"""

import re
from collections.abc import Iterator, Sequence
from enum import StrEnum
from pathlib import Path

from cuda_agent.bench.kernelbench import (
    Problem,
    find_level_folders,
    is_kernelbench_table,
    read_problem_table,
    recognise_version,
)
from cuda_agent.config import Record
from cuda_agent.errors import TaskError, UserError
from cuda_agent.tasks.dataset import load_tasks
from cuda_agent.tasks.kernelbench import load_task
from cuda_agent.tasks.source import parse_task
from cuda_agent.tasks.task import Task

_NUMBERED = re.compile(r"(\d+)_")


class SuiteKind(StrEnum):
    """How a suite is laid out."""

    KERNELBENCH = "kernelbench"
    """Folders level1, level2, ... of numbered files, or KernelBench's parquet files."""
    DATASET = "dataset"
    """A parquet file of synthesised tasks."""
    FOLDER = "folder"
    """Task files in a folder, or one file."""


class SuiteTask(Record):
    """A task and where it is in its suite."""

    place: str
    """Such as `level1/10_name`, unique in the suite."""
    level: int = 0
    """Its level; 0 where the suite has none."""
    problem: int = 0
    """Its number within the level; 0 where it has none."""
    task: Task
    """The task itself."""


class LeftOut(Record):
    """Something in the suite that cannot be used, and why."""

    place: str
    """Where it is."""
    reason: str
    """Why it cannot be used."""


class Suite(Record):
    """Tasks in order, and what they are."""

    name: str
    """The last part of where it was found."""
    kind: SuiteKind
    """How it is laid out."""
    version: str
    """Which version it is, as far as that can be told."""
    tasks: tuple[SuiteTask, ...]
    """Its tasks by level, number and name, each once."""
    left_out: tuple[LeftOut, ...] = ()
    """What is there but is no usable task."""

    def index(self) -> dict[str, SuiteTask]:
        """Its tasks by task id."""
        return {each.task.task_id: each for each in self.tasks}


def load_suite(path: Path, *, levels: Sequence[int] = (), only: Sequence[str] = ()) -> Suite:
    """The suite at a path.

    Args:
        path: a checkout, a folder, a parquet file or a task file.
        levels: only these levels; empty for all.
        only: only tasks whose place begins so, up to a word's end: `level1/1` is not `level1/10_name`.

    Raises:
        UserError: there is nothing of the kind, or no task is left.
    """
    if not path.exists():
        raise UserError(
            f"{path}: no such suite; give a KernelBench checkout, a parquet file or a folder of tasks"
        )
    folders = find_level_folders(path) if path.is_dir() else {}
    tables = sorted(path.rglob("*.parquet")) if path.is_dir() and not folders else [path]
    tables = [table for table in tables if table.suffix == ".parquet"]
    if folders or (tables and all(map(is_kernelbench_table, tables))):
        suite = _build_kernelbench(path, folders=folders, tables=tables)
    elif tables:
        suite = _build_dataset(path, tables)
    else:
        suite = _build_folder(path)
    return _choose(suite, path, levels=levels, only=only)


def _build_kernelbench(path: Path, *, folders: dict[int, Path], tables: Sequence[Path]) -> Suite:
    files = ((level, file) for level, folder in folders.items() for file in folder.glob("*.py"))
    found: list[SuiteTask | LeftOut] = [
        _read_file(file, f"level{level}", level=level) for level, file in files
    ]
    for table in tables if not folders else ():
        found.extend(_read_problem(problem) for problem in read_problem_table(table))
    tasks = [each for each in found if isinstance(each, SuiteTask)]
    version = recognise_version({(each.level, each.problem): each.task.source for each in tasks})
    return _gather(path, found, kind=SuiteKind.KERNELBENCH, version=version)


def _build_dataset(path: Path, tables: Sequence[Path]) -> Suite:
    tasks = [task for table in tables for task in load_tasks(str(table))]
    found = [SuiteTask(place=task.task_id, task=task) for task in tasks]
    return _gather(path, found, kind=SuiteKind.DATASET, version=f"{len(tasks)} rows")


def _build_folder(path: Path) -> Suite:
    files = [path] if path.is_file() else sorted(path.rglob("*.py"))
    root = path.parent if path.is_file() else path
    found = [_read_file(file, file.parent.relative_to(root).as_posix(), level=0) for file in files]
    return _gather(path, found, kind=SuiteKind.FOLDER, version="its own")


def _read_file(file: Path, folder: str, *, level: int) -> SuiteTask | LeftOut:
    place = file.stem if folder == "." else f"{folder}/{file.stem}"
    try:
        return SuiteTask(place=place, level=level, problem=_read_number(file.stem), task=load_task(file))
    except TaskError as error:
        return LeftOut(place=place, reason=str(error))


def _read_problem(problem: Problem) -> SuiteTask | LeftOut:
    place = f"level{problem.level}/{problem.name}"
    try:
        task = parse_task(problem.code, name=problem.name, origin=place)
        return SuiteTask(place=place, level=problem.level, problem=problem.number, task=task)
    except TaskError as error:
        return LeftOut(place=place, reason=str(error))


def _read_number(name: str) -> int:
    found = _NUMBERED.match(name)
    return int(found[1]) if found else 0


def _gather(path: Path, found: Sequence[SuiteTask | LeftOut], *, kind: SuiteKind, version: str) -> Suite:
    """Order what was found and set aside tasks that come a second time."""
    tasks: dict[str, SuiteTask] = {}
    left_out = [each for each in found if isinstance(each, LeftOut)]
    for each in sorted(_list_tasks(found), key=lambda each: (each.level, each.problem, each.place)):
        first = tasks.setdefault(each.task.task_id, each)
        if first is not each:
            left_out.append(LeftOut(place=each.place, reason=f"the same task as {first.place}"))
    name = path.resolve().name
    return Suite(name=name, kind=kind, version=version, tasks=tuple(tasks.values()), left_out=tuple(left_out))


def _list_tasks(found: Sequence[SuiteTask | LeftOut]) -> Iterator[SuiteTask]:
    return (each for each in found if isinstance(each, SuiteTask))


def _choose(suite: Suite, path: Path, *, levels: Sequence[int], only: Sequence[str]) -> Suite:
    tasks = [each for each in suite.tasks if not levels or each.level in levels]
    for wish in only:
        if not any(_begins(each.place, wish) for each in tasks):
            raise UserError(f"{path} has no task {wish!r}; its tasks are called {_name_some(suite)}")
    tasks = [each for each in tasks if not only or any(_begins(each.place, wish) for wish in only)]
    if not tasks:
        cause = (
            f"the first file that is none: {suite.left_out[0].reason}" if suite.left_out else "no .py file"
        )
        if suite.tasks:
            cause = f"its levels are {', '.join(map(str, sorted({each.level for each in suite.tasks})))}"
        raise UserError(f"{path} holds no such task ({cause}); give a suite with tasks")
    return suite.model_copy(update={"tasks": tuple(tasks)})


def _begins(place: str, wish: str) -> bool:
    """Whether a place begins with a wish that ends where a word does."""
    rest = place.removeprefix(wish)
    return place.startswith(wish) and not (rest and wish[-1:].isalnum() and rest[0].isalnum())


def _name_some(suite: Suite, count: int = 3) -> str:
    places = [each.place for each in suite.tasks[:count]]
    return ", ".join(places) + (", ..." if len(suite.tasks) > count else "")

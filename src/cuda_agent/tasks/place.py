"""Tasks by the place where they are: a Python file, or rows of a data set (`FILE.parquet#ID`)."""

from pathlib import Path

from cuda_agent.errors import UserError
from cuda_agent.tasks.dataset import is_dataset, load_tasks
from cuda_agent.tasks.kernelbench import load_task
from cuda_agent.tasks.task import Task


def load_place(place: Path) -> tuple[Task, ...]:
    """All tasks that a place names.

    Raises:
        UserError: the file cannot be read, or holds no such task.
    """
    return load_tasks(str(place)) if is_dataset(str(place)) else (load_task(place),)


def load_one_task(place: Path) -> Task:
    """The one task that a place names.

    Raises:
        UserError: it is unusable, or there are several.
    """
    task, *others = load_place(place)
    if others:
        raise UserError(f"{place} holds {1 + len(others)} tasks; name one: {place}#ID")
    return task

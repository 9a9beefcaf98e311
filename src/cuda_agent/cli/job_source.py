"""Where a run's tasks come from: files, data sets or an earlier run."""

from collections.abc import Sequence
from pathlib import Path

from cuda_agent.agent.job import Job
from cuda_agent.errors import UserError
from cuda_agent.rundir import read_saved_config
from cuda_agent.tasks.place import load_place
from cuda_agent.tasks.task import Task


def load_tasks(files: Sequence[Path]) -> tuple[Task, ...]:
    """The tasks in files, and in data sets' rows (`FILE.parquet`, `FILE.parquet#ID`, ...), each once.

    Raises:
        UserError: there are none, or one is unusable.
    """
    tasks = {task.task_id: task for file in files for task in load_place(file)}
    if not tasks:
        raise UserError("no task given; give task files, such as cuda-agent run examples/*.py")
    return tuple(tasks.values())


def load_saved_job(run: Path) -> Job:
    """What a run was started with.

    Raises:
        ConfigError: there is no run in the folder.
    """
    return Job.model_validate(read_saved_config(run)["config"])

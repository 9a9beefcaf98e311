"""What torch.compile built for a task, kept from one process of the task's to the next.

A process starts before its task is known, so it has a folder of its own: what is kept is copied there when
the task is opened, and what is new is copied back when the process has ended. Those files are the work of
the task's program, which nobody trusts: plain files alone are taken, no links, and only so many bytes. No
process of another task ever sees them.
"""

import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from cuda_agent.config import find_cache
from cuda_agent.errors import InfrastructureError
from cuda_agent.tasks.task import Task

MAX_BYTES = 256 << 20
"""Of all files of a task."""


def find_compile_cache(task: Task) -> Path:
    """Where what was built for a task is kept; each task has a folder of its own.

    Raises:
        InfrastructureError: it cannot be made.
    """
    folder = find_cache("inductor") / task.key
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InfrastructureError(
            f"{folder}, where torch.compile keeps what it built, cannot be made ({error.strerror}): mend it, "
            "or let XDG_CACHE_HOME name a folder that can be written"
        ) from error
    return folder


def lend_compiled(task: Task, folder: Path) -> None:
    """Copy what is kept into a process's folder, where its user may change it."""
    _copy_new(find_compile_cache(task), folder)
    for path in folder.rglob("*"):
        path.chmod(0o777 if path.is_dir() else 0o666)


def keep_compiled(task: Task, folder: Path) -> None:
    """Copy what a process that has ended built; what does not fit on the disk is not kept."""
    with suppress(OSError):
        _copy_new(folder, find_compile_cache(task))


def _copy_new(source: Path, target: Path) -> None:
    held = set(_list_files(target))
    left_bytes = MAX_BYTES - sum((target / relative).lstat().st_size for relative in held)
    for relative in sorted(set(_list_files(source)) - held):
        place = target / relative
        descriptor = os.open(source / relative, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with open(descriptor, "rb") as file:
            left_bytes -= os.fstat(descriptor).st_size
            if left_bytes < 0:
                return
            place.parent.mkdir(parents=True, exist_ok=True)
            copy, name = tempfile.mkstemp(dir=place.parent)
            with open(copy, "wb") as out:
                shutil.copyfileobj(file, out)
            Path(name).rename(place)


def _list_files(folder: Path) -> Iterator[Path]:
    """Plain files below a folder, as paths relative to it; links are neither listed nor followed."""
    for top, _, names in os.walk(folder, followlinks=False):
        for name in names:
            path = Path(top) / name
            with suppress(FileNotFoundError):
                if stat.S_ISREG(path.lstat().st_mode):
                    yield path.relative_to(folder)

"""What torch.compile built for a task, kept from one process of the task's to the next.

A process starts before its task is known, so it has a folder of its own: what is kept is copied there when
the task is opened, and what is new is copied back when the process has ended. Those files are the work of
the task's program, which nobody trusts: plain files alone are taken, no links, only so many, so large and
so deep. No process of another task ever sees them. Over all tasks so many bytes are kept, those of the tasks
that were last met.
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
from cuda_agent.eviction import make_room, touch_entry
from cuda_agent.tasks.task import Task

MAX_BYTES = 256 << 20
"""Of all files of a task."""
MAX_FILES = 2000
"""Of a task; torch.compile makes some ten for each graph."""
MAX_DEPTH = 16
"""Of folders within each other; torch.compile needs four."""
_MAX_ENTRIES = 10 * MAX_FILES
"""After so many files and folders nobody looks further."""
LIMIT_BYTES = 4 << 30
"""Of all tasks."""


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
    """Copy what is kept into a process's folder, where its user may change it; what cannot be is built anew.

    Raises:
        InfrastructureError: there is no place where it could be kept.
    """
    kept = find_compile_cache(task)
    touch_entry(kept)
    _copy_new(kept, folder)
    for path in folder.rglob("*"):
        path.chmod(0o777 if path.is_dir() else 0o666)


def keep_compiled(task: Task, folder: Path) -> None:
    """Copy what a process that has ended built; what does not fit on the disk is not kept."""
    with suppress(InfrastructureError, OSError):
        kept = find_compile_cache(task)
        added_bytes = _copy_new(folder, kept)
        touch_entry(kept)
        make_room(kept.parent, added_bytes=added_bytes, limit_bytes=LIMIT_BYTES)


def _copy_new(source: Path, target: Path) -> int:
    """Copy what is not there yet, as far as it may be, and say how many bytes that took."""
    held = set(_list_files(target))
    left_bytes = MAX_BYTES - sum(_measure_bytes(target / relative) for relative in held)
    before_bytes = left_bytes
    new = sorted(set(_list_files(source)) - held)
    for relative in new[: max(MAX_FILES - len(held), 0)]:
        with suppress(OSError):
            left_bytes -= _copy(source / relative, target / relative, at_most_bytes=left_bytes)
    return before_bytes - left_bytes


def _copy(file: Path, place: Path, *, at_most_bytes: int) -> int:
    """Copy a plain file whole or not at all, and say how many bytes that took."""
    descriptor = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    with open(descriptor, "rb") as source:
        nbytes = os.fstat(descriptor).st_size
        if nbytes > at_most_bytes:
            return 0
        place.parent.mkdir(parents=True, exist_ok=True)
        copy, name = tempfile.mkstemp(dir=place.parent)
        try:
            with open(copy, "wb") as out:
                shutil.copyfileobj(source, out)
            Path(name).rename(place)
        except BaseException:
            Path(name).unlink()
            raise
    return nbytes


def _list_files(folder: Path) -> Iterator[Path]:
    """Plain files below a folder, as paths relative to it; links are neither listed nor followed."""
    seen = 0
    for top, folders, names in os.walk(folder, followlinks=False):
        seen += 1 + len(names)
        if seen > _MAX_ENTRIES:
            return
        here = Path(top).relative_to(folder)
        if len(here.parts) == MAX_DEPTH:
            folders.clear()
        for name in names:
            with suppress(OSError):
                if stat.S_ISREG((folder / here / name).lstat().st_mode):
                    yield here / name


def _measure_bytes(path: Path) -> int:
    with suppress(OSError):
        return path.lstat().st_size
    return 0

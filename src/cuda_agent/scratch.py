"""Temporary files that outlive no death of their owner: a folder each, swept when its owner is gone.

The owner holds a lock of the kernel's on its folder, so that a killed process's lock goes with it. Whoever
opens a scratch folder first removes those that nobody holds any more.
"""

import fcntl
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Self

PREFIX = "cuda-agent-scratch-"


class Scratch:
    """One owner's folder of temporary files."""

    def __init__(self, path: Path, lock: int) -> None:
        """Use `open`."""
        self.path = path
        """The folder; other users may pass through it, to what is made for them, but not list it."""
        self._lock = lock

    @classmethod
    def open(cls) -> Self:
        """A new folder where temporary files go, after sweeping those of the dead.

        Raises:
            OSError: there is no room for it, or no such place.
        """
        place = Path(tempfile.gettempdir())
        sweep_scratch(place)
        while True:
            path = Path(tempfile.mkdtemp(prefix=PREFIX, dir=place))
            lock = _lock_folder(path, fcntl.LOCK_EX)
            if lock is not None and path.exists():
                path.chmod(0o711)
                return cls(path, lock)
            if lock is not None:  # somebody swept it before it was locked
                os.close(lock)

    def close(self) -> None:
        """Remove the folder; harmless when it is removed."""
        if self._lock >= 0:
            remove_tree(self.path)
            os.close(self._lock)
            self._lock = -1


@contextmanager
def keep_scratch() -> Iterator[Path]:
    """Let all temporary files of this process lie in one folder of its own, gone afterwards."""
    scratch, before = Scratch.open(), tempfile.tempdir
    tempfile.tempdir = str(scratch.path)
    try:
        yield scratch.path
    finally:
        tempfile.tempdir = before
        scratch.close()


@contextmanager
def temporary_folder(prefix: str) -> Iterator[Path]:
    """A new folder that others' programs may fill, removed afterwards whatever they left in it."""
    folder = Path(tempfile.mkdtemp(prefix=prefix))
    try:
        yield folder
    finally:
        remove_tree(folder)


def sweep_scratch(place: Path) -> None:
    """Remove our user's scratch folders in `place` that nobody holds."""
    for path in place.glob(f"{PREFIX}*"):
        lock = _lock_folder(path, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if lock is not None:
            remove_tree(path)
            os.close(lock)


def remove_tree(folder: Path) -> None:
    """Remove a folder with all that others' programs left in it, as far as our user may.

    Folders a thousand deep exhaust Python's stack or our descriptors, but not those of `rm`; and what our
    user owns may be shut, so it is opened first.
    """
    with suppress(RecursionError):
        shutil.rmtree(folder, ignore_errors=True)
    for command in (["chmod", "-R", "u+rwX"], ["rm", "-rf"]):
        if folder.exists():
            subprocess.run([*command, "--", str(folder)], stderr=subprocess.DEVNULL, check=False)


def _lock_folder(path: Path, way: int) -> int | None:
    """A descriptor that holds the lock of a folder of ours; None where it cannot be had."""
    with suppress(OSError):
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            if os.fstat(descriptor).st_uid == os.geteuid():
                fcntl.flock(descriptor, way)
                return descriptor
        except OSError:
            pass
        os.close(descriptor)
    return None

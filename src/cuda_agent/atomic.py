"""Files and folders that are there whole or not at all: written aside, then renamed into place."""

import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def write_aside(path: Path, *, is_forced: bool = False) -> Iterator[Path]:
    """A hidden name beside `path` to write a file or a folder under; it takes its place at the end.

    Whatever is raised meanwhile leaves `path` as it was and nothing beside it; a process that is killed
    leaves `.NAME.HEX`. A file takes another's place, a folder that of an empty one only. `is_forced` waits
    until the disk has all of it; otherwise it survives the death of this process, but not of the machine.

    Raises:
        OSError: the disk refuses, or a folder that is not empty is there.
    """
    aside = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        yield aside
        if is_forced:
            for written in (*aside.rglob("*"), aside):
                _sync(written)
        os.replace(aside, path)
    finally:
        _remove(aside)
    if is_forced:
        _sync(path.parent)


def write_whole(path: Path, content: bytes | str, *, is_forced: bool = False) -> None:
    """Write a file whole or not at all, text as UTF-8; `is_forced` as for `write_aside`.

    Raises:
        OSError: the disk refuses; what was there still is.
    """
    with write_aside(path, is_forced=is_forced) as aside:
        aside.write_bytes(content.encode() if isinstance(content, str) else content)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)

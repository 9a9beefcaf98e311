"""Walks through folders that others fill: however deep they lie, with one descriptor, never through a link.

Python's own walkers hold a descriptor and a frame for each level, so a thousand folders within each other end
them. Here the way back up is `..`, which is believed only where it leads to the folder that was come from.
"""

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

_ROOT = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_BELOW = _ROOT | os.O_NOFOLLOW


class Visit(NamedTuple):
    """One folder."""

    path: str
    """Its path from the root; empty for the root itself."""
    folders: list[str]
    """Names of the folders in it; whatever is taken out of the list is not visited."""
    names: list[str]
    """Names of all else."""
    fd: int
    """Its descriptor, until the next folder is asked for."""


def walk_folders(root: Path) -> Iterator[Visit]:
    """A folder and all below it, each before what lies in it.

    What cannot be opened is left out. Where somebody moves a folder while it is visited, the walk ends.
    """
    with suppress(OSError):
        at = os.open(root, _ROOT)
        try:
            above: list[tuple[str, tuple[int, int], list[str]]] = []
            path = ""
            while True:
                folders, names = _list(at)
                yield Visit(path, folders, names, at)
                above.append((path, _identify(at), folders[::-1]))
                below = None
                while below is None:
                    path, identity, left = above[-1]
                    if _identify(at) != identity:
                        return
                    if left:
                        name = left.pop()
                        below = _open_below(name, at)
                        continue
                    above.pop()
                    if not above:
                        return
                    at = _change(at, os.open("..", _BELOW, dir_fd=at))
                at, path = _change(at, below), os.path.join(path, name)
        finally:
            os.close(at)


def _change(descriptor: int, other: int) -> int:
    os.close(descriptor)
    return other


def _list(folder: int) -> tuple[list[str], list[str]]:
    folders: list[str] = []
    names: list[str] = []
    with os.scandir(folder) as entries:
        for entry in entries:
            (folders if entry.is_dir(follow_symlinks=False) else names).append(entry.name)
    return folders, names


def _open_below(name: str, folder: int) -> int | None:
    """A descriptor of a folder that can be left again; None where there is none."""
    try:
        below = os.open(name, _BELOW, dir_fd=folder)
    except OSError:
        return None
    try:
        os.stat(".", dir_fd=below)
    except OSError:
        os.close(below)
        return None
    return below


def _identify(folder: int) -> tuple[int, int]:
    status = os.fstat(folder)
    return status.st_dev, status.st_ino

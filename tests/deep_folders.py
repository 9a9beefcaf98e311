"""Folders as hostile programs leave them."""

import os
from pathlib import Path


def make_deep(folder: Path, levels: int) -> None:
    """A file below so many folders that no path names it."""
    at = os.open(folder, os.O_RDONLY)
    for _ in range(levels):
        os.mkdir("a", dir_fd=at)
        below = os.open("a", os.O_RDONLY, dir_fd=at)
        os.close(at)
        at = below
    os.close(os.open("file", os.O_CREAT | os.O_WRONLY, dir_fd=at))
    os.close(at)


def make_shut(folder: Path) -> None:
    """Folders with something in them that may be neither entered, nor read, nor changed."""
    for mode in (0o000, 0o444, 0o555):
        shut = folder / f"{mode:o}"
        (shut / "below").mkdir(parents=True)
        (shut / "below" / "file").touch()
        (shut / "below").chmod(mode)
        shut.chmod(mode)

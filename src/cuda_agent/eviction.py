"""Keeps a cache's folder within bytes: of its entries, a folder each, those longest unused go first.

Any number of processes may add, use and evict at once, without a lock: an entry is renamed before it is
removed, so nobody finds a half of one, and whoever copies from it meanwhile finds files gone, no others. An
entry was used when its folder was last touched. `make_room` looks only when much was added, or now and then.
"""

import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from cuda_agent.scratch import remove_tree
from cuda_agent.walk import walk_folders

UNFINISHED = "."
"""How the name of an entry begins that is still being written."""
_LEAVING = "gone-"
_SWEEP_S = 600.0
_ABANDONED_S = 3600.0
_ADDED_SHARE = 8
"""So small a part of the limit may have been added since the last look."""


def make_room(folder: Path, *, added_bytes: int, limit_bytes: int) -> None:
    """Note what was added, and see to it that no more than about the limit, and an eighth, is there.

    Raises:
        OSError: nothing can be written there.
    """
    ledger, stamp = folder / "added", folder / "swept"
    with ledger.open("a", encoding="ascii") as lines:
        lines.write(f"{added_bytes}\n")
    if _is_recent(stamp) and _sum_up(ledger) * _ADDED_SHARE < limit_bytes:
        return
    stamp.touch()
    ledger.unlink(missing_ok=True)
    left_bytes = limit_bytes
    for place, used_s, nbytes in sorted(_list_entries(folder), key=lambda entry: -entry[1]):
        left_bytes -= nbytes
        is_abandoned = place.name.startswith(UNFINISHED) and time.time() - used_s > _ABANDONED_S
        if left_bytes < 0 or is_abandoned or place.name.startswith(_LEAVING):
            _evict(place)


def touch_entry(place: Path) -> None:
    """Say that an entry was used; harmless when it is gone."""
    with suppress(OSError):
        os.utime(place)


def _is_recent(stamp: Path) -> bool:
    with suppress(FileNotFoundError):
        # A stamp of the future was set before the clock was: it says nothing.
        return 0.0 <= time.time() - stamp.stat().st_mtime < _SWEEP_S
    return False


def _sum_up(ledger: Path) -> int:
    with suppress(OSError):
        return sum(int(line) for line in ledger.read_text(encoding="ascii").split() if line.isdigit())
    return 0


def _list_entries(folder: Path) -> Iterator[tuple[Path, float, int]]:
    for place in folder.iterdir():
        with suppress(OSError):
            if place.is_dir() and not place.is_symlink():
                yield place, place.stat().st_mtime, _measure_bytes(place)


def _measure_bytes(place: Path) -> int:
    nbytes = 0
    for visit in walk_folders(place):
        for name in visit.names:
            with suppress(OSError):
                nbytes += os.stat(name, dir_fd=visit.fd, follow_symlinks=False).st_size
    return nbytes


def _evict(place: Path) -> None:
    with suppress(OSError):  # somebody else was first
        aside = Path(tempfile.mkdtemp(prefix=_LEAVING, dir=place.parent))
        try:
            place.rename(aside / place.name)
        finally:
            remove_tree(aside)

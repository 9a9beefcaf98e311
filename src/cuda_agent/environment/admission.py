"""How many judges a machine bears: some work at once, and only a few more stay warm.

A warm judge is two processes with torch in them. With many episodes at once most wait for their model,
and their judges would fill the memory and take the processors from those that measure.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from cuda_agent.workers.cores import count_cores

WARM_A_PLACE = 2
"""How many judges may be warm for each that may work: starting one takes longer than most evaluations."""


class Judging(Protocol):
    """Whoever owns a judge."""

    def cool(self) -> bool:
        """End the judge's processes, to be started again when needed; False if it is at work."""
        ...


class Admission:
    """Lets so many owners of a judge work at once; whoever was idle longest gives up a warm one."""

    def __init__(self, places: int | None = None) -> None:
        """By default half as many places as there are cores for us."""
        places = places or max(1, count_cores() // 2)
        self._free = threading.Semaphore(places)
        self._most_warm = places * WARM_A_PLACE
        self._lock = threading.Lock()
        self._warm: list[Judging] = []

    def claim(self, owner: Judging) -> bool:
        """Whether the owner may warm its judge before it is needed: as long as there is room."""
        with self._lock:
            if len(self._warm) >= self._most_warm:
                return False
            self._warm.append(owner)
            return True

    @contextmanager
    def enter(self, owner: Judging) -> Iterator[None]:
        """Wait for a place to work in; the owner's judge is warm from then on."""
        with self._free:
            for idle in self._take(owner):
                idle.cool()
            yield

    def leave(self, owner: Judging) -> None:
        """Forget an owner, whose judge has ended for good."""
        with self._lock:
            self._warm = [each for each in self._warm if each is not owner]

    def _take(self, owner: Judging) -> list[Judging]:
        """Make the owner the last one that was used, and give those for whom there is no more room."""
        with self._lock:
            used = [*(each for each in self._warm if each is not owner), owner]
            self._warm = used[-self._most_warm :]
            return used[: -self._most_warm]

"""Turns on one device: some may work at once, but who measures is alone.

Within this process a lock with two doors; towards the judges of this machine their lease of the device.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from cuda_agent.judge.lease import Lease


class Turns:
    """A lock with two doors; whoever waits to measure goes before new work."""

    def __init__(self, lease: Lease, *, at_once: int) -> None:
        """Nobody works yet, and at most `at_once` ever will."""
        self._lease = lease
        self._at_once = at_once
        self._changed = threading.Condition()
        self._working = 0
        self._waiting = 0
        self._is_quiet = False

    @contextmanager
    def work(self) -> Iterator[None]:
        """A stretch of work that others may share."""
        with self._changed:
            self._changed.wait_for(self._is_open)
            self._working += 1
        try:
            with self._lease.share():
                yield
        finally:
            with self._changed:
                self._working -= 1
                self._changed.notify_all()

    @contextmanager
    def quiet(self) -> Iterator[None]:
        """A stretch in which nobody else works; not to be opened within work of one's own."""
        with self._changed:
            self._waiting += 1
            try:
                self._changed.wait_for(lambda: not self._is_quiet and not self._working)
            finally:
                self._waiting -= 1
            self._is_quiet = True
        try:
            with self._lease.take():
                yield
        finally:
            with self._changed:
                self._is_quiet = False
                self._changed.notify_all()

    def _is_open(self) -> bool:
        """Whether one more may work."""
        return not self._is_quiet and not self._waiting and self._working < self._at_once

"""Turns on one device: many may work at once, but who measures is alone."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class Turns:
    """A lock with two doors; whoever waits to measure goes before new work."""

    def __init__(self) -> None:
        """Nobody works yet."""
        self._changed = threading.Condition()
        self._working = 0
        self._waiting = 0
        self._is_quiet = False

    @contextmanager
    def work(self) -> Iterator[None]:
        """A stretch of work that others may share."""
        with self._changed:
            self._changed.wait_for(lambda: not self._is_quiet and not self._waiting)
            self._working += 1
        try:
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
            yield
        finally:
            with self._changed:
                self._is_quiet = False
                self._changed.notify_all()

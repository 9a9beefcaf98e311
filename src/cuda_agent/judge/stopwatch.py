"""Where the time goes, by name."""

import time
from collections.abc import Iterator
from contextlib import contextmanager


class Stopwatch:
    """Adds up seconds under names."""

    def __init__(self) -> None:
        """Nothing has been timed."""
        self.seconds: dict[str, float] = {}
        """What each name took, in the order in which they first came."""

    @contextmanager
    def time(self, name: str) -> Iterator[None]:
        """Add what happens inside, also where it fails."""
        started = time.monotonic()
        try:
            yield
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + time.monotonic() - started

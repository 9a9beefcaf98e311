"""How far long work is, how fast it goes on, and when it will be done at that rate."""

import time


class Pace:
    """Counts from now to a total."""

    def __init__(self, total: int) -> None:
        """Begin to count to `total`."""
        self.total = total
        """How many there are to be done."""
        self._start_s = time.monotonic()

    @property
    def elapsed_s(self) -> float:
        """Seconds since it began."""
        return time.monotonic() - self._start_s

    def tell(self, done: int) -> str:
        """How it stands when so many are done, at least one."""
        each_s = self.elapsed_s / done
        rate = f", {3600 / each_s:.0f} an hour" if each_s > 0 else ""
        return f"{done}/{self.total}{rate}, {each_s * (self.total - done):.0f} s left"

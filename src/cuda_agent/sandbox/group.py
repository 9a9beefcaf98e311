"""A started command and everything it started."""

import subprocess
import threading
from collections.abc import Callable
from types import TracebackType
from typing import Self

STOP_S = 10.0
"""How long a killed group may take to vanish before its outermost process is killed by force."""


class Group:
    """The running command of either sandbox; leaving its context kills and reaps the whole of it.

    `process` is the outermost process (bubblewrap, or our supervisor), which ends last; `stop` asks for
    the end of everything inside; `settle` tidies up after the end and is called once.
    """

    def __init__(
        self, process: subprocess.Popen[bytes], *, stop: Callable[[], None], settle: Callable[[], None]
    ) -> None:
        """Take over a started process."""
        self.process = process
        self._stop = stop
        self._settle = settle
        self._lock = threading.Lock()
        self._settled = False

    @property
    def pid(self) -> int:
        """Process id of the outermost process."""
        return self.process.pid

    def poll(self) -> int | None:
        """Exit status if it has ended, else None; negative is the signal that ended it."""
        status = self.process.poll()
        return None if status is None else _decode(status)

    def kill(self) -> None:
        """Kill the whole group and reap it; harmless when it has ended."""
        with self._lock:
            if self._settled:
                return
            try:
                self._stop()
                self._reap()
            finally:
                self._settled = True
                self._settle()

    def _reap(self) -> None:
        try:
            self.process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def __enter__(self) -> Self:
        """The running command itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Kill and reap."""
        self.kill()


def _decode(status: int) -> int:
    """Both outermost processes report a signal as 128 + its number, as shells do."""
    return 128 - status if 128 < status <= 192 else status

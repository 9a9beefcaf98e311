"""Threads that try candidates, and that nobody has to wait for in the end.

The threads of `concurrent.futures` are joined when Python exits. One that waits for a device's lease cannot
be called back, so the run would end only when whoever holds the device gives it back.
"""

import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future

from cuda_agent.synthesis.fate import Fate


class Crew:
    """So many threads, which take jobs in the order in which they are given."""

    def __init__(self, size: int) -> None:
        """All wait for a job."""
        self._size = size
        self._jobs: queue.SimpleQueue[tuple[Future[Fate], Callable[[], Fate]] | None] = queue.SimpleQueue()
        for _ in range(size):
            threading.Thread(target=self._work, name="crew", daemon=True).start()

    def submit(self, job: Callable[[], Fate]) -> Future[Fate]:
        """Have a job done; its failure is raised where its result is asked for."""
        future: Future[Fate] = Future()
        self._jobs.put((future, job))
        return future

    def close(self) -> None:
        """Take no further job; what is being done is left to itself."""
        while not self._jobs.empty():
            self._jobs.get()
        for _ in range(self._size):
            self._jobs.put(None)

    def _work(self) -> None:
        while (taken := self._jobs.get()) is not None:
            future, job = taken
            try:
                future.set_result(job())
            except Exception as error:  # raised again in the thread that asks (see errors.py)
                future.set_exception(error)

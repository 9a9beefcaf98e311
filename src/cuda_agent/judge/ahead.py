"""Work begun before it is needed."""

import threading
from collections.abc import Callable


class Ahead:
    """A piece of work in a thread, which does not keep the program from ending."""

    def __init__(self, work: Callable[[], object]) -> None:
        """Begin."""
        self._work = work
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    @property
    def is_over(self) -> bool:
        """Whether it has ended."""
        return not self._thread.is_alive()

    def finish(self) -> None:
        """Wait for its end.

        Raises:
            BaseException: whatever the work raised.
        """
        self._thread.join()
        if self._error is not None:
            raise self._error

    def abandon(self, *, timeout_s: float) -> None:
        """Wait for its end for a while, and care for it no more."""
        self._thread.join(timeout_s)

    def _run(self) -> None:
        try:
            self._work()
        except BaseException as error:  # it is raised where the work is awaited
            self._error = error

"""Processes started before they are needed: runners that wait for a submission, each used once.

A runner pays for its imports and for its device in the background, while others are judged. It knows no
task, so a stock outlives the judges that take from it.
"""

import tempfile
from pathlib import Path
from types import TracebackType
from typing import Self

from cuda_agent.errors import InfrastructureError
from cuda_agent.judge.policy import Precision
from cuda_agent.judge.process import ChildProcess, count_threads
from cuda_agent.judge.protocol import Prepare
from cuda_agent.sandbox.protocol import Sandbox
from cuda_agent.tasks.target import Target

_RUNNER = "cuda_agent.judge.runner"
_MANY_THREADS = 8
"""With so many cores runners may start while one is timed: they only import, and wait."""


class Stock:
    """Runners for one target in one sandbox."""

    def __init__(self, target: Target, *, sandbox: Sandbox, precision: Precision, ahead: int = 1) -> None:
        """Start nothing yet; `ahead` is how many shall wait."""
        self.prepare = Prepare(target=target, precision=precision, threads=count_threads())
        """How its processes are made ready."""
        self.sandbox = sandbox
        """How they are contained."""
        self._folder = tempfile.TemporaryDirectory(prefix="judge-", ignore_cleanup_errors=True)
        self._ahead = ahead
        self._waiting: list[ChildProcess] = []
        self._is_closed = False

    @property
    def folder(self) -> Path:
        """Where its processes' files lie, and those of whoever has it."""
        return Path(self._folder.name)

    def refill(self) -> None:
        """Start what lacks, without waiting for it."""
        target = self.prepare.target
        while len(self._waiting) < self._ahead and not self._is_closed:
            runner = ChildProcess(_RUNNER, sandbox=self.sandbox, target=target, folder=self.folder)
            self._waiting.append(runner)
            runner.send(self.prepare)

    def take(self) -> ChildProcess:
        """The runner that was started first, whose first reply is still to be received.

        On a machine with many cores others take its place at once, else with the next `refill`.

        Raises:
            InfrastructureError: the stock was closed meanwhile.
        """
        self.refill()
        if not self._waiting:
            raise InfrastructureError("the judge was closed while it was at work")
        runner = self._waiting.pop(0)
        if count_threads() >= _MANY_THREADS:
            self.refill()
        return runner

    def close(self) -> None:
        """End all that wait, and remove the files of every process that was taken."""
        self._is_closed = True
        while self._waiting:
            self._waiting.pop().close()
        self._folder.cleanup()

    def __enter__(self) -> Self:
        """The stock itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close."""
        self.close()

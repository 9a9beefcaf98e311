"""Processes started before they are needed: they have paid for their imports and their device, and wait.

A runner waits for a submission and is used once; a reference process waits for a task. Neither knows which
one it will meet, so a stock outlives the judges that take from it, in several threads if need be.
"""

import tempfile
import threading
from pathlib import Path

from cuda_agent.closing import Closing
from cuda_agent.errors import InfrastructureError
from cuda_agent.judge.ahead import Ahead
from cuda_agent.judge.policy import Precision
from cuda_agent.judge.process import ChildProcess, count_threads
from cuda_agent.judge.protocol import Prepare
from cuda_agent.sandbox.protocol import Sandbox
from cuda_agent.scratch import remove_tree
from cuda_agent.tasks.target import Target

_RUNNER = "cuda_agent.judge.runner"
_REFERENCE = "cuda_agent.judge.reference"
_MANY_THREADS = 8
"""With so many cores processes may start while one is timed: they only import, and wait."""
_END_TIMEOUT_S = 10.0


class Stock(Closing):
    """Processes for one target in one sandbox."""

    def __init__(
        self, target: Target, *, sandbox: Sandbox, precision: Precision, runners: int = 1, references: int = 0
    ) -> None:
        """Start nothing yet; the numbers are how many of each shall wait."""
        self.prepare = Prepare(target=target, precision=precision, threads=count_threads())
        """How its processes are made ready."""
        self.sandbox = sandbox
        """How they are contained."""
        self._folder = Path(tempfile.mkdtemp(prefix="judge-"))
        self._wanted = {_RUNNER: runners, _REFERENCE: references}
        self._waiting: dict[str, list[ChildProcess]] = {_RUNNER: [], _REFERENCE: []}
        self._leaving: list[Ahead] = []
        self._is_closed = False
        self._lock = threading.RLock()

    def refill(self) -> None:
        """Start what lacks, without waiting for it."""
        with self._lock:
            for program, wanted in self._wanted.items():
                while len(self._waiting[program]) < wanted and not self._is_closed:
                    self._waiting[program].append(self._start(program))

    def take_runner(self) -> ChildProcess:
        """A runner, whose first reply is still to be received.

        Raises:
            InfrastructureError: the stock was closed meanwhile.
        """
        return self._take(_RUNNER)

    def take_reference(self) -> ChildProcess:
        """A reference process, whose first reply is still to be received; raises as `take_runner` does."""
        return self._take(_REFERENCE)

    def retire(self, child: ChildProcess) -> None:
        """End a process that was taken; on cuda, where that takes a while, nobody waits for it."""
        if self.prepare.target is Target.CPU:
            child.close()
            return
        self._leaving = [leaving for leaving in self._leaving if not leaving.is_over]
        self._leaving.append(Ahead(child.close))

    def close(self) -> None:
        """End all that wait, and remove the files of every process that was taken."""
        with self._lock:
            self._is_closed = True
            for waiting in self._waiting.values():
                while waiting:
                    waiting.pop().close()
        for leaving in self._leaving:
            leaving.abandon(timeout_s=_END_TIMEOUT_S)
        remove_tree(self._folder)

    def _take(self, program: str) -> ChildProcess:
        """The one that was started first and still lives; with many cores another takes its place at once."""
        with self._lock:
            if self._is_closed:
                raise InfrastructureError("the judge was closed while it was at work")
            waiting = self._waiting[program]
            while waiting and waiting[0].is_gone():
                waiting.pop(0).close()
            child = waiting.pop(0) if waiting else self._start(program)
            if count_threads() >= _MANY_THREADS:
                self.refill()
            return child

    def _start(self, program: str) -> ChildProcess:
        child = ChildProcess(
            program,
            sandbox=self.sandbox,
            target=self.prepare.target,
            folder=self._folder,
            compiles=program == _REFERENCE,
        )
        child.send(self.prepare)
        return child

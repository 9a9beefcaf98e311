"""Commands of an agent that run for a while, some of them in the background."""

import dataclasses
import os
import select
import threading
import time
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from cuda_agent.environment.pause import Company
from cuda_agent.errors import InfrastructureError
from cuda_agent.sandbox.capture import BoundedOutput
from cuda_agent.sandbox.protocol import Command, Running, Sandbox
from cuda_agent.scratch import temporary_folder

KEPT_BYTES = 4 << 20
"""How much of one command's output is read; of a longer one the middle is left out."""

LOG_BYTES = 256 << 20
"""A command that prints more is killed while it is waited for, or, in the background, by the system."""

LOOK_S = 0.5
"""How often the length of the output is looked at meanwhile."""

CHUNK_BYTES = 1 << 20
_SETUP_FAILED = "bwrap: "


@dataclass(frozen=True)
class Look:
    """What one look at a job found."""

    output: str
    """What it printed since the last look."""
    seconds: float
    """How long it has run."""
    returncode: int | None
    """Exit status, negative for the signal that ended it; None while it runs."""


class Started:
    """One command; its output goes to a file that only we can reach."""

    def __init__(self, running: Running, log: Path, *, company: Company) -> None:
        """Take over a started command and the file that it prints to."""
        self._running = running
        self._log = log
        self._company = company
        self._start_s = time.monotonic()
        self._end_s = 0.0
        self._seen_bytes = 0

    def wait(self, timeout_s: float, *, is_judge_free: bool = False) -> bool:
        """Wait for its end; whether it has ended.

        With `is_judge_free` the judge's time does not count: it may have many to serve before this one.
        """
        start_s, judged_s = time.monotonic(), self._company.judged_s
        while self._running.poll() is None:
            free_s = self._company.judged_s - judged_s if is_judge_free else 0.0
            left_s = start_s + timeout_s + free_s - time.monotonic()
            if left_s <= 0.0:
                return False
            if self._log.stat().st_size > LOG_BYTES:
                self.stop()
            _wait_for_process(self._running.pid, min(left_s, LOOK_S))
        # What it left running goes with it.
        self.stop()
        return True

    def stop(self) -> None:
        """Kill it with all it started; harmless when it has ended."""
        self._running.kill()
        self._end_s = self._end_s or time.monotonic()

    def look(self) -> Look:
        """What is new since the last look."""
        returncode = self._running.poll()
        kept = BoundedOutput(KEPT_BYTES)
        with self._log.open("rb") as file:
            file.seek(self._seen_bytes)
            while chunk := file.read(CHUNK_BYTES):
                kept.add(chunk)
            self._seen_bytes = file.tell()
        seconds = (self._end_s or time.monotonic()) - self._start_s
        return Look(kept.read_text(), seconds, returncode)

    def forget(self) -> None:
        """Remove what it printed."""
        self._log.unlink(missing_ok=True)


class Commands:
    """Starts commands in a sandbox. Use it as a context: leaving it ends all of them."""

    def __init__(self, sandbox: Sandbox, company: Company) -> None:
        """Whoever is in the `company` is held still together."""
        self._sandbox = sandbox
        self._company = company
        self._stack = ExitStack()
        self._started = 0
        self._lock = threading.Lock()
        self._is_over = False

    def __enter__(self) -> Self:
        """Make room for what they print."""
        self._folder = self._stack.enter_context(temporary_folder("commands-"))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End them all, and let none start any more."""
        with self._lock:
            self._is_over = True
        self._stack.close()

    def start(self, command: Command) -> Started:
        """Start a command; its wall-clock limit is the caller's to keep.

        Raises:
            InfrastructureError: the context was left meanwhile.
        """
        self._started += 1
        log = self._folder / f"{self._started}.log"
        running = self._company.start(lambda: self._sandbox.start(command, log))
        with self._lock:
            if not self._is_over:
                return Started(self._stack.enter_context(running), log, company=self._company)
        running.kill()
        raise InfrastructureError("the command came too late: the episode is over")

    def check_setup(self, command: Command, look: Look) -> None:
        """Make sure that it was the command that failed, where its output looks as if the sandbox had.

        Raises:
            InfrastructureError: the sandbox cannot be set up for such a command.
        """
        if look.returncode and look.output.startswith(_SETUP_FAILED):
            # Only a trial tells: the command may have printed the words itself.
            self._sandbox.run(dataclasses.replace(command, argv=("true",)))


def _wait_for_process(pid: int, timeout_s: float) -> None:
    try:
        end = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    try:
        waiting = select.poll()
        waiting.register(end, select.POLLIN)
        waiting.poll(timeout_s * 1000.0)
    finally:
        os.close(end)

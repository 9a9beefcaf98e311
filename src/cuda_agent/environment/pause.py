"""Holds still what an agent's command left running while the judge measures.

A workspace command asks from inside a running shell command, which may have started others beside it.
They would share the machine with the judge, and a load that comes and goes at the right moments slows a
baseline down. So while a request is served, its whole company is stopped: every process in the asking
process's PID namespace, or, where the sandbox gives it none of its own, in its session.
"""

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from cuda_agent.sandbox.protocol import Running

PASSES = 5
"""How often to look again for processes that were started while others were being stopped."""


class Company:
    """An agent's commands, each in a sandbox of its own, held still together while the judge measures."""

    def __init__(self) -> None:
        self._measuring = threading.Lock()
        self._running: list[Running] = []
        self._judged_s = 0.0
        self._asked_s: float | None = None

    @property
    def judged_s(self) -> float:
        """Seconds, so far, in which the judge worked for one of them or let it wait for its turn."""
        asked_s = self._asked_s
        return self._judged_s + (0.0 if asked_s is None else time.monotonic() - asked_s)

    @contextmanager
    def judged(self) -> Iterator[None]:
        """One of them has asked the judge, which serves one at a time."""
        self._asked_s = time.monotonic()
        try:
            yield
        finally:
            self._judged_s, self._asked_s = self.judged_s, None

    def start(self, start: Callable[[], Running]) -> Running:
        """Start a command; not while the judge measures, but as soon as it has done."""
        with self._measuring:
            self._running.append(start())
            return self._running[-1]

    @contextmanager
    def still(self, peer: int) -> Iterator[None]:
        """Hold still what is around the asking process, and every other command; let none start."""
        with self._measuring, ExitStack() as stack:
            self._running = [each for each in self._running if each.poll() is None]
            for pid in (peer, *(pid for each in self._running for pid in find_children(each.pid))):
                stack.enter_context(paused_company(pid))
            yield


def find_children(pid: int) -> tuple[int, ...]:
    """The processes that `pid` started, of a command's outermost process those inside its sandbox."""
    try:
        return tuple(map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split()))
    except OSError:
        return ()


@contextmanager
def paused_company(pid: int) -> Iterator[tuple[int, ...]]:
    """Stop the processes around `pid`, and let them go on afterwards; gives what was stopped."""
    stopped: list[int] = []
    try:
        for _ in range(PASSES):
            fresh = [each for each in find_company(pid) if each not in stopped]
            if not fresh:
                break
            stopped += [each for each in fresh if _signal(each, signal.SIGSTOP)]
        yield tuple(stopped)
    finally:
        for each in stopped:
            _signal(each, signal.SIGCONT)


def find_company(pid: int) -> tuple[int, ...]:
    """The processes that share `pid`'s namespace, or its session where the namespace is ours."""
    namespace = _read_namespace(pid)
    if namespace is None or pid <= 0:
        return ()
    others = [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdecimal()]
    if namespace != _read_namespace(os.getpid()):
        return tuple(each for each in others if _read_namespace(each) == namespace)
    session = _read_session(pid)
    if session is None or session == _read_session(os.getpid()):
        # Its session is our own: stopping that would stop us.
        return ()
    return tuple(each for each in others if _read_session(each) == session)


def _read_namespace(pid: int) -> str | None:
    try:
        return os.readlink(f"/proc/{pid}/ns/pid")
    except OSError:
        return None


def _read_session(pid: int) -> int | None:
    try:
        return os.getsid(pid)
    except OSError:
        return None


def _signal(pid: int, number: signal.Signals) -> bool:
    try:
        os.kill(pid, number)
    except OSError:
        return False
    return True

"""Ending an episode from outside, whatever it waits for."""

import _thread
import threading
from collections.abc import Callable
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from typing import TypeVar

from cuda_agent.errors import CudaAgentError

ResultT = TypeVar("ResultT")


class EpisodeInterruptedError(CudaAgentError):
    """Whoever holds the episode wants it to end."""


class Interruption:
    """Calls what may take long so that the caller can be let go at any moment, from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: set[Future[object]] = set()
        self._is_set = False

    def set(self) -> None:
        """Let go everybody who waits, and everybody who will."""
        with self._lock:
            self._is_set = True
            for outcome in self._waiting:
                with suppress(InvalidStateError):
                    outcome.set_exception(EpisodeInterruptedError("interrupted"))

    def call(self, act: Callable[[], ResultT], *, timeout_s: float | None = None) -> ResultT:
        """What `act` gives or raises, from a thread that nobody waits for once it took too long.

        Raises:
            EpisodeInterruptedError: `set` was called, before or meanwhile.
            TimeoutError: `timeout_s` is over.
        """
        outcome: Future[ResultT] = Future()
        with self._lock:
            if self._is_set:
                raise EpisodeInterruptedError("interrupted")
            self._waiting.add(outcome)  # type: ignore[arg-type]
        # Without Thread's handshake, which would wait for the scheduler once more; it is a daemon too.
        _thread.start_new_thread(_fulfil, (outcome, act))
        try:
            return outcome.result(timeout_s)
        finally:
            with self._lock:
                self._waiting.discard(outcome)


def _fulfil(outcome: "Future[ResultT]", act: Callable[[], ResultT]) -> None:
    try:
        result = act()
    except BaseException as error:
        with suppress(InvalidStateError):
            outcome.set_exception(error)
    else:
        with suppress(InvalidStateError):
            outcome.set_result(result)

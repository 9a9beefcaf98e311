"""One worker, as a pool sees it, wherever it runs."""

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from cuda_agent.errors import InfrastructureError
from cuda_agent.workers.item import Answer


class WorkerError(InfrastructureError):
    """A worker did not do what it was asked."""


class WorkerFailedError(WorkerError):
    """It answered that it could not, and lives on."""


class WorkerDiedError(WorkerError):
    """It is gone, or talks nonsense."""


class WorkerSilentError(WorkerError):
    """It did not answer in time, and has been ended."""


class Worker(Protocol):
    """A process that serves one object's methods, one call at a time."""

    name: str
    """How results name it."""

    def call(self, method: str, payload: Mapping[str, Any], *, limit_s: float) -> Answer:
        """Call a method of the served object.

        Raises:
            WorkerFailedError: the method raised.
            WorkerDiedError: the process ended.
            WorkerSilentError: it took longer than `limit_s`.
        """
        ...

    def close(self) -> None:
        """End it with everything it started; harmless when it has ended."""
        ...


WorkerMaker = Callable[[], Worker]
"""Starts a worker; a worker that died is replaced by another from the same maker."""

PROBE = "probe"
"""The method that says whether a worker, with its device, is well: it raises if not."""

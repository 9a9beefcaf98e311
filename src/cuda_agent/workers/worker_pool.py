"""Many items on many workers: none is lost, the guilty do not harm the innocent, the sick are left out.

Each worker has a thread of this process that takes steps for it. A worker that dies is replaced, and the
step tried once more elsewhere; a item of which two workers died is guilty, and ends as CRASHED. After an
error, or a step that may have harmed the device, the worker is probed; one that fails its probe, or cannot
be started three times running, is left out, and what it was doing goes back to the front of the line.
"""

import itertools
import logging
import queue
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

from cuda_agent.closing import Closing
from cuda_agent.workers.item import Answer, Outcome, OutcomeStatus, Tier, WorkItem
from cuda_agent.workers.queue import Errand, WaitingLine
from cuda_agent.workers.seat import Seat
from cuda_agent.workers.worker import (
    WorkerDiedError,
    WorkerError,
    WorkerFailedError,
    WorkerMaker,
    WorkerSilentError,
)

MAX_ATTEMPTS = 2
AHEAD = 4
"""How many items are taken in for each worker before their turn."""

log = logging.getLogger(__name__)


class WorkerPool(Closing):
    """A `Pool` of workers, each with a thread of this process.

    Use it as a context: leaving it ends every worker.
    """

    def __init__(self, tiers: Mapping[Tier, Sequence[WorkerMaker]]) -> None:
        """Start a thread for each worker; the workers themselves start when there is work."""
        self._lines = {tier: WaitingLine() for tier in tiers}
        self._lock = threading.Lock()
        self._left = {tier: len(makers) for tier, makers in tiers.items()}
        self._causes: list[str] = []
        self._is_closing = False
        self._seats = [
            (tier, f"{tier.value}-{number}", Seat(maker))
            for tier, makers in tiers.items()
            for number, maker in enumerate(makers)
        ]
        self._threads = [
            threading.Thread(target=self._serve, args=(tier, name), kwargs={"seat": seat}, daemon=True)
            for tier, name, seat in self._seats
        ]
        for thread in self._threads:
            thread.start()

    @property
    def causes(self) -> tuple[str, ...]:
        """Why workers were left out, the first first."""
        with self._lock:
            return tuple(self._causes)

    def run(self, items: Iterable[WorkItem]) -> Iterator[Outcome]:
        """Do all items; their outcomes come as they end, in any order.

        Items are taken in as they are needed, so there may be any number of them.
        """
        outcomes: queue.SimpleQueue[Outcome] = queue.SimpleQueue()
        waiting, running = iter(items), 0
        while True:
            for item in itertools.islice(waiting, AHEAD * len(self._threads) - running):
                self.submit(item, outcomes.put)
                running += 1
            if not running:
                return
            yield outcomes.get()
            running -= 1

    def submit(self, item: WorkItem, on_end: Callable[[Outcome], None]) -> None:
        """Let an item be done; `on_end` is called once, from another thread, and must not take long."""
        self._send(Errand(item, on_end))

    def cancel(self, item_id: str) -> bool:
        """End an item that waits for a worker, as CANCELLED; whether it did."""
        for line in self._lines.values():
            errand = line.withdraw(item_id)
            if errand is not None:
                self._end(errand, OutcomeStatus.CANCELLED, reason="it was cancelled")
                return True
        return False

    def count_waiting(self) -> dict[Tier, int]:
        """How many steps wait for a worker of each tier."""
        return {tier: len(line) for tier, line in self._lines.items()}

    def count_workers(self) -> dict[Tier, int]:
        """How many workers of each tier are not left out."""
        with self._lock:
            return dict(self._left)

    def close(self) -> None:
        """End every worker, in the middle of whatever it does."""
        self._is_closing = True
        for line in self._lines.values():
            line.drain()
            line.close()
        with ThreadPoolExecutor(max(len(self._seats), 1)) as threads:
            threads.map(lambda seat: seat[2].end(), self._seats)
        for thread in self._threads:
            thread.join()

    def _send(self, errand: Errand, *, first: bool = False) -> None:
        """Let a step wait for its tier, or end the item where there is no worker for it."""
        tier = errand.step.tier
        with self._lock:
            if self._left.get(tier, 0):
                self._lines[tier].put(errand, first=first)
                return
            cause = self._causes[0] if self._causes else "the pool has none"
        self._end(errand, OutcomeStatus.NO_WORKER, reason=f"no {tier.value} worker is left: {cause}")

    def _end(self, errand: Errand, status: OutcomeStatus, *, reason: str = "") -> None:
        value = errand.answer.value if errand.answer and status is OutcomeStatus.DONE else None
        errand.on_end(
            Outcome(
                item_id=errand.item.item_id,
                status=status,
                value=value,
                reason=reason,
                times=tuple(errand.times),
            )
        )

    def _serve(self, tier: Tier, name: str, *, seat: Seat) -> None:
        """Take steps for the workers of one seat, until there are no more, or nobody can sit there."""
        line = self._lines[tier]
        while not seat.cause and (errand := line.take(name)) is not None:
            if errand.waited_s > errand.item.queue_limit_s:
                reason = f"waited {errand.waited_s:.1f} s for a {tier.value} worker"
                self._end(errand, OutcomeStatus.QUEUE_TIMED_OUT, reason=reason)
            else:
                self._attend(seat, errand)
        line.leave(name)
        seat.leave()
        if seat.cause and not self._is_closing:
            self._leave_out(tier, name, cause=seat.cause)

    def _attend(self, seat: Seat, errand: Errand) -> None:
        """Let the worker at a seat do one step."""
        waited_s, worker = errand.waited_s, seat.sit()
        if worker is None:
            self._send(errand, first=True)
            return
        started = time.monotonic()
        try:
            answer: Answer | WorkerError = worker.call(
                errand.step.method, errand.item.payload, limit_s=errand.step.limit_s
            )
        except WorkerError as error:
            answer = error
        errand.note(worker.name, waited_s=waited_s, ran_s=time.monotonic() - started)
        if isinstance(answer, WorkerError):
            self._handle(seat, errand, error=answer)
            return
        if answer.is_suspect:
            seat.probe()
        self._advance(errand, answer)

    def _advance(self, errand: Errand, answer: Answer) -> None:
        errand.answer = answer
        if answer.is_last or errand.at + 1 == len(errand.item.steps):
            self._end(errand, OutcomeStatus.DONE)
            return
        errand.at += 1
        self._send(errand)

    def _handle(self, seat: Seat, errand: Errand, *, error: WorkerError) -> None:
        """A step went wrong: whose fault is it, and what becomes of the item?"""
        if self._is_closing:
            return
        log.info("%s, %s: %s", errand.item.item_id, errand.step.method, error)
        if isinstance(error, WorkerFailedError):
            seat.probe()
        else:
            seat.leave()
        if isinstance(error, WorkerSilentError):
            self._end(errand, OutcomeStatus.TIMED_OUT, reason=str(error))
        elif seat.cause or errand.times[-1].attempts < MAX_ATTEMPTS:
            self._send(errand, first=True)
        else:
            died = isinstance(error, WorkerDiedError)
            self._end(errand, OutcomeStatus.CRASHED if died else OutcomeStatus.FAILED, reason=str(error))

    def _leave_out(self, tier: Tier, name: str, *, cause: str) -> None:
        log.warning("%s is left out: %s", name, cause)
        with self._lock:
            self._causes.append(f"{name}: {cause}")
            self._left[tier] -= 1
            is_last = not self._left[tier]
        if is_last:
            for errand in self._lines[tier].drain():
                self._send(errand)

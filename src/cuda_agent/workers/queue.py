"""Steps that wait for a worker of their tier."""

import threading
import time
from collections import deque
from collections.abc import Callable
from typing import NamedTuple

from cuda_agent.workers.item import Answer, Outcome, Step, StepTimes, WorkItem

PATIENCE_S = 60.0
"""How long a worker may stay with one affinity while a step that is nobody's waits as long."""


class Errand:
    """One item on its way."""

    def __init__(self, item: WorkItem, on_end: Callable[[Outcome], None]) -> None:
        """Its first step is next; `on_end` is told how it ended."""
        self.item = item
        self.on_end = on_end
        self.at = 0
        self.times: list[StepTimes] = []
        self.answer: Answer | None = None
        self.ready_s = time.monotonic()

    @property
    def step(self) -> Step:
        """The next step."""
        return self.item.steps[self.at]

    @property
    def waited_s(self) -> float:
        """How long it has waited."""
        return time.monotonic() - self.ready_s

    def note(self, worker: str, *, waited_s: float, ran_s: float) -> None:
        """The step was begun once more."""
        before = self.times.pop().attempts if len(self.times) > self.at else 0
        self.times.append(
            StepTimes(
                method=self.step.method,
                waited_s=waited_s,
                ran_s=ran_s,
                worker=worker,
                attempts=before + 1,
            )
        )


class Claim(NamedTuple):
    """What a worker is warm for."""

    affinity: str
    """Of the last errand that it took."""
    since_s: float
    """When it took the first of them."""


class WaitingLine:
    """The errands that wait for one tier; any number of workers take from it."""

    def __init__(self) -> None:
        """Nobody waits."""
        self._errands: deque[Errand] = deque()
        self._changed = threading.Condition()
        self._claims: dict[str, Claim] = {}
        self._closed = False

    def put(self, errand: Errand, *, first: bool = False) -> None:
        """Let an errand wait; `first` is for one that had its turn and must have it again."""
        errand.ready_s = time.monotonic()
        with self._changed:
            (self._errands.appendleft if first else self._errands.append)(errand)
            self._changed.notify()

    def take(self, worker: str) -> Errand | None:
        """Wait for an errand that suits the worker; None when there will be no more."""
        with self._changed:
            while not self._errands:
                if self._closed:
                    return None
                self._changed.wait()
            errand = self._choose(worker)
            self._errands.remove(errand)
            self._claim(worker, errand.item.affinity)
            return errand

    def __len__(self) -> int:
        """How many wait."""
        return len(self._errands)

    def withdraw(self, item_id: str) -> Errand | None:
        """Take an item out that waits here."""
        with self._changed:
            found = next((errand for errand in self._errands if errand.item.item_id == item_id), None)
            if found is not None:
                self._errands.remove(found)
            return found

    def leave(self, worker: str) -> None:
        """A worker takes no more."""
        with self._changed:
            self._claims.pop(worker, None)

    def drain(self) -> list[Errand]:
        """Take everything that waits."""
        with self._changed:
            errands = list(self._errands)
            self._errands.clear()
        return errands

    def close(self) -> None:
        """There will be no more errands."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def _claim(self, worker: str, affinity: str) -> None:
        held = self._claims.get(worker)
        if held is None or held.affinity != affinity:
            self._claims[worker] = Claim(affinity, time.monotonic())

    def _choose(self, worker: str) -> Errand:
        """The oldest of the worker's own affinity, or of nobody's; to change costs seconds.

        However long all of them have waited, workers go on so: they leave their own only for what is
        nobody's, and after a while.
        """
        oldest = self._errands[0]
        if not oldest.item.affinity:
            return oldest
        own = self._claims.get(worker) or Claim("", time.monotonic())
        others = {claim.affinity for name, claim in self._claims.items() if name != worker}
        mine = self._find(lambda affinity: affinity == own.affinity)
        free = self._find(lambda affinity: affinity not in others | {own.affinity})
        if mine and free:
            stayed_s = time.monotonic() - own.since_s
            return free if min(free.waited_s, stayed_s) > PATIENCE_S else mine
        return mine or free or oldest

    def _find(self, fits: Callable[[str], bool]) -> Errand | None:
        return next((errand for errand in self._errands if fits(errand.item.affinity)), None)

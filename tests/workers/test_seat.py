"""A worker that cannot start, or is sick, leaves its seat with the first reason."""

from collections.abc import Mapping
from typing import Any

from cuda_agent.workers.item import Answer
from cuda_agent.workers.seat import MAX_STARTS, Seat
from cuda_agent.workers.worker import WorkerDiedError


class Moody:
    """A worker of this process, well or not."""

    name = "moody"

    def __init__(self, *, is_well: bool = True) -> None:
        self.is_well = is_well
        self.is_closed = False

    def call(self, method: str, payload: Mapping[str, Any], *, limit_s: float) -> Answer:
        if not self.is_well:
            raise WorkerDiedError("it is unwell")
        return Answer(value={})

    def close(self) -> None:
        self.is_closed = True


def test_a_well_worker_keeps_its_seat() -> None:
    seat = Seat(Moody)
    worker = seat.sit()
    assert worker is not None
    seat.probe()
    assert seat.sit() is worker
    seat.leave()
    assert worker.is_closed  # type: ignore[attr-defined]
    assert seat.sit() is not worker
    assert not seat.cause


def test_a_worker_that_falls_ill_leaves_for_good() -> None:
    seat = Seat(Moody)
    worker = seat.sit()
    assert isinstance(worker, Moody)
    worker.is_well = False
    seat.probe()
    assert worker.is_closed
    assert seat.cause == "it is unwell"


def test_some_starts_may_fail() -> None:
    made: list[Moody] = []

    def make() -> Moody:
        made.append(Moody(is_well=len(made) == MAX_STARTS - 1))
        return made[-1]

    seat = Seat(make)
    assert seat.sit() is made[-1]
    assert not seat.cause
    hopeless = Seat(lambda: Moody(is_well=False))
    assert hopeless.sit() is None
    assert hopeless.cause == "it is unwell"


def test_nobody_sits_after_the_end() -> None:
    seat = Seat(Moody)
    seat.end()
    assert seat.sit() is None
    assert not seat.cause

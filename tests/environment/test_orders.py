"""An order that was accepted is there after any restart, and so is its outcome."""

from pathlib import Path

import pytest

from cuda_agent.config import Config
from cuda_agent.environment.evaluator import Request
from cuda_agent.environment.orders import Order, OrderBook
from cuda_agent.errors import InfrastructureError
from cuda_agent.rundir import RunDir
from cuda_agent.tasks.target import Target
from cuda_agent.tasks.task import Task
from cuda_agent.workers.item import Outcome, OutcomeStatus
from tests.full_disk import full_disk

REQUEST = Request(task=Task(name="t", source=""), files={}, target=Target.CPU)


def test_a_book_is_what_it_was_before(tmp_path: Path) -> None:
    with RunDir.create(tmp_path / "run", Config()) as run:
        book = OrderBook(run)
        assert book.add(Order(order_id="a", request=REQUEST))
        assert book.add(Order(order_id="b", request=REQUEST))
        assert not book.add(Order(order_id="a", request=REQUEST))
        book.conclude(Outcome(item_id="a", status=OutcomeStatus.DONE, value={"x": 1}))
        for again in (book, OrderBook(run)):
            assert [order.order_id for order in again.list_open()] == ["b"]
            assert again.count() == {"open": 1, "done": 1}
            found = again.find_outcome("a")
            assert found is not None
            assert found.value == {"x": 1}
            assert again.find_outcome("b", wait_s=0.01) is None
            assert (again.has("b"), again.has("c")) == (True, False)


def test_what_a_full_disk_refuses_is_told_and_written_when_there_is_room(tmp_path: Path) -> None:
    with RunDir.create(tmp_path / "run", Config()) as run:
        book = OrderBook(run)
        for name in "ab":
            book.add(Order(order_id=name, request=REQUEST))
        with full_disk(10):
            for name in "ab":
                book.conclude(Outcome(item_id=name, status=OutcomeStatus.DONE, value={"of": name}))
            assert "make room" in book.trouble
            assert book.count() == {"open": 0, "done": 2}
            with pytest.raises(InfrastructureError, match="cannot be written"):
                book.add(Order(order_id="c", request=REQUEST))
            assert not book.has("c")
        assert len(OrderBook(run).list_open()) == 2
        assert book.write_down()
        assert not book.trouble
        again = OrderBook(run)
        assert not again.list_open()
        assert [again.find_outcome(name) for name in "ab"] == [book.find_outcome(name) for name in "ab"]

"""An order that was accepted is there after any restart, and so is its outcome."""

from pathlib import Path

from cuda_agent.config import Config
from cuda_agent.environment.evaluator import Request
from cuda_agent.environment.orders import Order, OrderBook
from cuda_agent.rundir import RunDir
from cuda_agent.tasks.target import Target
from cuda_agent.tasks.task import Task
from cuda_agent.workers.item import Outcome, OutcomeStatus

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

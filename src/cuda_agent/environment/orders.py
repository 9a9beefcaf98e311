"""What a server was asked for and how that ended, kept so that no restart loses any of it."""

import logging
import threading
from collections.abc import Mapping
from typing import Any

from cuda_agent.config import Record
from cuda_agent.environment.evaluator import Request
from cuda_agent.errors import InfrastructureError
from cuda_agent.rundir import RunDir
from cuda_agent.workers.item import Outcome

ORDERS = "orders.jsonl"
OUTCOMES = "outcomes.jsonl"

log = logging.getLogger(__name__)


class Order(Record):
    """A request that was taken in."""

    order_id: str
    """Names it."""
    request: Request
    """What is to be evaluated."""


class OrderBook:
    """Orders, on the disk before anybody is told of them, and outcomes, there as soon as it takes them."""

    def __init__(self, run: RunDir) -> None:
        """Read what an earlier server of this run left."""
        self._run = run
        self._changed = threading.Condition()
        self._orders = {order.order_id: order for order in run.read(ORDERS, Order)}
        self._outcomes = {outcome.item_id: outcome for outcome in run.read(OUTCOMES, Outcome)}
        self._unwritten: list[Outcome] = []
        self._trouble = ""

    @property
    def trouble(self) -> str:
        """Why outcomes are not on the disk yet; empty when all are."""
        return self._trouble

    def list_open(self) -> list[Order]:
        """The orders that have no outcome yet, oldest first."""
        with self._changed:
            return [order for name, order in self._orders.items() if name not in self._outcomes]

    def add(self, order: Order) -> bool:
        """Take an order in; False where one of that id is there already, with whatever it asked for.

        Raises:
            InfrastructureError: the disk refuses, and so the order is not taken in.
        """
        with self._changed:
            if order.order_id in self._orders:
                return False
            self._run.append(ORDERS, order)
            self._orders[order.order_id] = order
            return True

    def conclude(self, outcome: Outcome) -> None:
        """Keep how an order ended: in memory as long as the disk refuses, which is tried again each time."""
        with self._changed:
            self._outcomes[outcome.item_id] = outcome
            self._unwritten.append(outcome)
            self._changed.notify_all()
            self.write_down()

    def write_down(self) -> bool:
        """Write what the disk has refused before; whether all is written."""
        with self._changed:
            try:
                while self._unwritten:
                    self._run.append(OUTCOMES, self._unwritten[0])
                    self._unwritten.pop(0)
                self._trouble = ""
            except InfrastructureError as error:
                self._trouble = str(error)
                log.warning("%d outcomes wait for the disk: %s", len(self._unwritten), error)
            return not self._unwritten

    def has(self, order_id: str) -> bool:
        """Whether there is such an order."""
        with self._changed:
            return order_id in self._orders

    def find_outcome(self, order_id: str, *, wait_s: float = 0.0) -> Outcome | None:
        """How an order ended, waiting for that up to `wait_s`; None where it has not."""
        with self._changed:
            self._changed.wait_for(lambda: order_id in self._outcomes, timeout=wait_s)
            return self._outcomes.get(order_id)

    def count(self) -> Mapping[str, Any]:
        """How many orders are open, and how many ended how."""
        with self._changed:
            counts: dict[str, int] = {"open": len(self._orders) - len(self._outcomes)}
            for outcome in self._outcomes.values():
                counts[outcome.status.value] = counts.get(outcome.status.value, 0) + 1
            return counts

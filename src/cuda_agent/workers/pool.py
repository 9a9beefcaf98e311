"""Anything that does many pieces of work: workers of this machine, of a cluster, or a server elsewhere."""

from collections.abc import Iterable, Iterator
from typing import Protocol

from cuda_agent.workers.item import Outcome, WorkItem


class Pool(Protocol):
    """Does work, in any order, and loses none of it."""

    @property
    def causes(self) -> tuple[str, ...]:
        """Why workers were left out, the first first."""
        ...

    def run(self, items: Iterable[WorkItem]) -> Iterator[Outcome]:
        """Do all items; their outcomes come as they end. Items are taken in as they are needed."""
        ...

"""Requests of many threads, worked off together."""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Generic, TypeVar

RequestT = TypeVar("RequestT")
AnswerT = TypeVar("AnswerT")


@dataclass(frozen=True)
class _Ticket(Generic[RequestT, AnswerT]):
    request: RequestT
    answer: "Future[AnswerT]" = field(default_factory=Future)


class Batcher(Generic[RequestT, AnswerT]):
    """Does the work of all who wait, one batch after another.

    There is no thread of its own: whoever finds nobody at work does the work of all who wait by then, its
    own first. So a single caller never waits for company, and many at once are a batch by themselves.
    """

    def __init__(self, work: Callable[[Sequence[RequestT]], Sequence[AnswerT]], *, limit: int) -> None:
        """`work` answers up to `limit` requests, in their order."""
        self._work = work
        self._limit = limit
        self._waiting: list[_Ticket[RequestT, AnswerT]] = []
        self._lock = threading.Lock()
        self._at_work = threading.Lock()

    def ask(self, request: RequestT) -> AnswerT:
        """The answer to one request; raises what the work of its batch raised."""
        ticket: _Ticket[RequestT, AnswerT] = _Ticket(request)
        with self._lock:
            self._waiting.append(ticket)
        with self._at_work:
            if not ticket.answer.done():
                self._answer(self._take(ticket))
        return ticket.answer.result()

    def _take(self, own: _Ticket[RequestT, AnswerT]) -> list[_Ticket[RequestT, AnswerT]]:
        """One's own ticket, and the oldest others."""
        with self._lock:
            others = [ticket for ticket in self._waiting if ticket is not own][: self._limit - 1]
            taken = [own, *others]
            self._waiting = [ticket for ticket in self._waiting if all(ticket is not each for each in taken)]
        return taken

    def _answer(self, tickets: list[_Ticket[RequestT, AnswerT]]) -> None:
        try:
            answers = self._work([ticket.request for ticket in tickets])
            for ticket, answer in zip(tickets, answers, strict=True):
                ticket.answer.set_result(answer)
        except BaseException as error:
            for ticket in tickets:
                if not ticket.answer.done():
                    ticket.answer.set_exception(error)
            raise

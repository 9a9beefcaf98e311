"""A pool behind HTTP: whoever has the token may let submissions be evaluated.

Orders are kept on disk (orders.py) before they are accepted, so a server that was killed goes on with them.
"""

import asyncio
import hmac
import secrets
import time
from collections.abc import Awaitable, Callable
from typing import Annotated

from fastapi import Depends, FastAPI, HTTPException, Query, Request, Response
from fastapi.responses import JSONResponse, PlainTextResponse
from pydantic import Field

from cuda_agent.config import Record
from cuda_agent.environment.evaluator import Request as EvaluationRequest
from cuda_agent.environment.evaluator import make_item_of
from cuda_agent.environment.orders import Order, OrderBook
from cuda_agent.errors import InfrastructureError
from cuda_agent.workers.item import Outcome
from cuda_agent.workers.worker_pool import WorkerPool

MAX_BODY_BYTES = 8 << 20
MAX_WAIT_S = 60.0
POLL_S = 0.05
"""How often a waiting answer looks whether its order has ended."""


class Asked(Record):
    """What a client sends."""

    request: EvaluationRequest
    """What is to be evaluated."""
    order_id: Annotated[str, Field(pattern=r"^[A-Za-z0-9_.-]{1,100}$")] | None = None
    """Names the order: sending it twice gives one evaluation; without it a name is made up."""


class State(Record):
    """How an order stands."""

    order_id: str
    """Which."""
    status: str
    """`open`, or how it ended."""
    outcome: Outcome | None = None
    """How it ended, with the Evaluation as its value."""


class Health(Record):
    """How the server is."""

    status: str
    """`ok`, or what is wrong."""
    workers: dict[str, int]
    """How many of each tier are not left out."""
    left_out: tuple[str, ...]
    """Why others are, the first first."""


def create_app(pool: WorkerPool, book: OrderBook, *, token: str, max_open: int) -> FastAPI:
    """The application; what an earlier server left open is begun anew at once.

    Args:
        pool: who evaluates.
        book: where orders are kept.
        token: what clients must send as bearer token; empty: nobody need.
        max_open: how many orders may wait; more are refused with 429.
    """

    def authorise(request: Request) -> None:
        sent = request.headers.get("authorization", "").removeprefix("Bearer ")
        if token and not hmac.compare_digest(sent.encode(), token.encode()):
            raise HTTPException(401, "send the server's token: Authorization: Bearer TOKEN")

    app = FastAPI(title="cuda-agent", description=__doc__)
    app.middleware("http")(_limit_size)
    desk, guarded = _Desk(pool, book, max_open=max_open), [Depends(authorise)]
    one = "/v1/evaluations/{order_id}"
    app.post("/v1/evaluations", status_code=202, dependencies=guarded)(desk.submit)
    app.get(one, dependencies=guarded)(desk.show)
    app.delete(one, dependencies=guarded)(desk.cancel)
    app.get("/metrics", response_class=PlainTextResponse, dependencies=guarded)(desk.tell_metrics)
    app.get("/health")(desk.tell_health)
    for order in book.list_open():
        desk.begin(order)
    return app


class _Desk:
    """Where orders are taken in."""

    def __init__(self, pool: WorkerPool, book: OrderBook, *, max_open: int) -> None:
        self._pool = pool
        self._book = book
        self._max_open = max_open

    def begin(self, order: Order) -> None:
        self._pool.submit(make_item_of(order.order_id, order.request), self._book.conclude)

    def submit(self, asked: Asked) -> State:
        """Let a submission be evaluated."""
        if self._book.count()["open"] >= self._max_open:
            raise HTTPException(429, f"{self._max_open} orders are open: wait", {"Retry-After": "5"})
        order = Order(order_id=asked.order_id or secrets.token_hex(8), request=asked.request)
        try:
            is_new = self._book.add(order)
        except InfrastructureError as error:
            raise HTTPException(507, str(error), {"Retry-After": "5"}) from error
        if is_new:
            self.begin(order)
        return self._describe(order.order_id)

    async def show(self, order_id: str, wait_s: Annotated[float, Query(ge=0, le=MAX_WAIT_S)] = 0.0) -> State:
        """How an order stands; with `wait_s` the answer comes when it has ended, or so much later."""
        deadline_s = time.monotonic() + wait_s
        # No thread waits meanwhile: any number of clients may, and may go away without a word.
        while not (state := self._describe(order_id)).outcome and time.monotonic() < deadline_s:
            await asyncio.sleep(POLL_S)
        return state

    def cancel(self, order_id: str) -> State:
        """Give an order up that no worker has taken yet."""
        if self._book.has(order_id):
            self._pool.cancel(order_id)
        return self._describe(order_id)

    def tell_health(self, response: Response) -> Health:
        """Whether there are workers, and why some were left out."""
        workers = {tier.value: count for tier, count in self._pool.count_workers().items()}
        trouble = "" if all(workers.values()) else "a tier has no worker"
        self._book.write_down()
        status = trouble or self._book.trouble or "ok"
        response.status_code = 200 if status == "ok" else 503
        return Health(status=status, workers=workers, left_out=self._pool.causes)

    def tell_metrics(self) -> str:
        """Gauges for Prometheus."""
        lines = [f'cuda_agent_orders{{status="{name}"}} {n}' for name, n in self._book.count().items()]
        gauges = (("waiting", self._pool.count_waiting()), ("workers", self._pool.count_workers()))
        for what, counts in gauges:
            lines += [f'cuda_agent_{what}{{tier="{tier.value}"}} {n}' for tier, n in counts.items()]
        return "\n".join([*lines, ""])

    def _describe(self, order_id: str) -> State:
        if not self._book.has(order_id):
            raise HTTPException(404, "there is no such order")
        outcome = self._book.find_outcome(order_id)
        status = outcome.status.value if outcome else "open"
        return State(order_id=order_id, status=status, outcome=outcome)


async def _limit_size(request: Request, call_next: Callable[[Request], Awaitable[Response]]) -> Response:
    length = request.headers.get("content-length", "")
    if request.method == "POST" and not (length.isdigit() and 0 < int(length) <= MAX_BODY_BYTES):
        return JSONResponse({"detail": f"a body of 1 to {MAX_BODY_BYTES} bytes is needed"}, 413)
    return await call_next(request)

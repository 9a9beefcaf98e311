"""A pool that is a server elsewhere: `cuda-agent serve` there, any trainer here."""

import hashlib
import json
import time
import urllib.error
import urllib.request
from collections.abc import Iterable, Iterator
from typing import Any

from cuda_agent.errors import InfrastructureError, UserError
from cuda_agent.workers.item import Outcome, WorkItem

WAIT_S = 20.0
PATIENCE_S = 300.0
"""How long a server may be away before its client gives up."""


class RemotePool:
    """A `Pool` of evaluations on a server; any number of clients may share one."""

    def __init__(self, url: str, *, token: str = "", run_id: str, ahead: int = 32) -> None:
        """Use the server at `url`.

        Args:
            url: such as http://127.0.0.1:8321.
            token: its bearer token; empty where it asks for none.
            run_id: begins the names of the orders: a client that comes again finds its results.
            ahead: how many orders are open at a time.
        """
        self._url = url.rstrip("/")
        self._token = token
        self._run_id = run_id
        self._ahead = ahead

    @property
    def causes(self) -> tuple[str, ...]:
        """Why workers were left out, the first first."""
        return tuple(self._ask("GET", "/health").get("left_out", ()))

    def run(self, items: Iterable[WorkItem]) -> Iterator[Outcome]:
        """Do all items; their outcomes come in the items' order."""
        open_items: list[WorkItem] = []
        for item in items:
            body = {"order_id": self.name_order(item.item_id), "request": item.payload}
            self._ask("POST", "/v1/evaluations", body=body)
            open_items.append(item)
            if len(open_items) >= self._ahead:
                yield self._wait_for(open_items.pop(0))
        for item in open_items:
            yield self._wait_for(item)

    def _wait_for(self, item: WorkItem) -> Outcome:
        while True:
            state = self._ask("GET", f"/v1/evaluations/{self.name_order(item.item_id)}?wait_s={WAIT_S}")
            if state["outcome"] is not None:
                return Outcome.model_validate({**state["outcome"], "item_id": item.item_id})

    def name_order(self, item_id: str) -> str:
        """What the server calls an item: the same each time, for a client that comes back."""
        # Item ids may hold anything and be of any length; the server's names may not.
        return f"{self._run_id}-{hashlib.sha256(item_id.encode()).hexdigest()[:32]}"

    def _ask(self, method: str, path: str, *, body: object = None) -> Any:  # noqa: ANN401
        """Ask, again and again while the server is away or has too much to do."""
        give_up_s, wait_s = time.monotonic() + PATIENCE_S, 0.2
        while True:
            try:
                return self._ask_once(method, path, body=body)
            except urllib.error.HTTPError as error:
                if error.code != 429 and error.code < 500:
                    raise UserError(f"{self._url} refuses ({error.code}): {error.read()[:500]!r}") from error
                reason = f"{error.code}"
            except (OSError, ValueError) as error:
                reason = str(error)
            if time.monotonic() > give_up_s:
                raise InfrastructureError(f"{self._url} did not answer for {PATIENCE_S:.0f} s: {reason}")
            time.sleep(wait_s)
            wait_s = min(2 * wait_s, 10.0)

    def _ask_once(self, method: str, path: str, *, body: object) -> Any:  # noqa: ANN401
        data = json.dumps(body).encode() if body is not None else None
        request = urllib.request.Request(self._url + path, data=data, method=method)
        request.add_header("Content-Type", "application/json")
        if self._token:
            request.add_header("Authorization", f"Bearer {self._token}")
        with urllib.request.urlopen(request, timeout=WAIT_S + 30) as reply:
            return json.loads(reply.read())

"""Orders over HTTP: guarded, limited, never lost, never done twice."""

import http.client
import json
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from cuda_agent.config import Config
from cuda_agent.environment.orders import OrderBook
from cuda_agent.environment.remote_pool import RemotePool
from cuda_agent.environment.server import MAX_BODY_BYTES
from cuda_agent.rundir import RunDir
from cuda_agent.workers.item import OutcomeStatus
from tests.environment.quick_server import TOKEN, order, serve


@pytest.fixture
def run(tmp_path: Path) -> Iterator[RunDir]:
    with RunDir.create(tmp_path / "run", Config()) as run:
        yield run


def ask(url: str, *, method: str = "GET", body: bytes | None = None, token: str = TOKEN) -> int:
    request = urllib.request.Request(url, data=body, method=method)
    request.add_header("Authorization", f"Bearer {token}")
    request.add_header("Content-Type", "application/json")
    try:
        with urllib.request.urlopen(request, timeout=30) as reply:
            return int(reply.status)
    except urllib.error.HTTPError as error:
        return error.code


def announce(url: str, *, nbytes: int) -> int:
    """Begin to send so many bytes, and see what the server says to that."""
    address, _, path = url.removeprefix("http://").partition("/")
    connection = http.client.HTTPConnection(address, timeout=30)
    connection.putrequest("POST", f"/{path}")
    connection.putheader("Content-Length", str(nbytes))
    connection.endheaders()
    with closing(connection):
        return connection.getresponse().status


def test_what_a_stopped_server_left_open_is_done_by_the_next(run: RunDir) -> None:
    with serve(run) as url:
        for number in range(3):
            asked = {"order_id": f"o{number}", "request": order(str(number), 1.0).payload}
            assert ask(f"{url}/v1/evaluations", method="POST", body=json.dumps(asked).encode()) == 202
    assert OrderBook(run).list_open()
    with serve(run) as url:
        for number in range(3):
            assert ask(f"{url}/v1/evaluations/o{number}?wait_s=30") == 200
    book = OrderBook(run)
    assert not book.list_open()
    assert [book.find_outcome(f"o{number}").value for number in range(3)] == [{"text": "1.0"}] * 3  # type: ignore[union-attr]


def test_strangers_giants_and_nonsense_are_refused(run: RunDir) -> None:
    with serve(run) as url:
        place = f"{url}/v1/evaluations"
        assert ask(f"{place}/none", token="wrong") == 401
        assert ask(f"{url}/metrics", token="") == 401
        assert ask(f"{place}/none") == 404
        assert ask(place, method="POST", body=b"{}") == 422
        assert ask(place, method="POST", body=b'{"order_id": "../x", "request": {}}') == 422
        for path in ("../outside.h", "/etc/outside.h", "kernels/../../outside.h", "kernels/.h", "notes.txt"):
            request = {**order("a").payload, "files": {path: ""}}
            body = json.dumps({"order_id": "hostile", "request": request}).encode()
            assert ask(place, method="POST", body=body) == 422, path
        assert ask(f"{place}/hostile") == 404
        assert announce(place, nbytes=MAX_BODY_BYTES + 1) == 413
        assert ask(f"{url}/health", token="") == 200
        assert ask(f"{url}/metrics") == 200


def test_an_order_that_waits_can_be_cancelled(run: RunDir) -> None:
    with serve(run) as url:
        pool = RemotePool(url, token=TOKEN, run_id="r", ahead=1)
        waiting = threading.Thread(target=lambda: list(pool.run([order("long", 2.0)])))
        waiting.start()
        time.sleep(0.5)
        late = threading.Thread(target=lambda: list(pool.run([order("late")])))
        late.start()
        time.sleep(0.5)
        assert ask(f"{url}/v1/evaluations/r-{b'late'.hex()}", method="DELETE") == 200
        for thread in (waiting, late):
            thread.join()
    outcome = OrderBook(run).find_outcome(f"r-{b'late'.hex()}")
    assert outcome is not None
    assert outcome.status is OutcomeStatus.CANCELLED

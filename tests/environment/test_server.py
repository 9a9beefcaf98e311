"""Orders over HTTP: guarded, limited, never lost, never done twice."""

import http.client
import json
import socket
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
from tests.full_disk import full_disk


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
        assert ask(f"{url}/v1/evaluations/{pool.name_order('late')}", method="DELETE") == 200
        for thread in (waiting, late):
            thread.join()
    outcome = OrderBook(run).find_outcome(pool.name_order("late"))
    assert outcome is not None
    assert outcome.status is OutcomeStatus.CANCELLED


def test_any_number_of_clients_may_wait_and_go_away(run: RunDir) -> None:
    with serve(run) as url:
        asked = {"order_id": "slow", "request": order("a", 3.0).payload}
        assert ask(f"{url}/v1/evaluations", method="POST", body=json.dumps(asked).encode()) == 202
        address = url.removeprefix("http://")
        host, port = address.split(":")
        waiting = [socket.create_connection((host, int(port))) for _ in range(100)]
        for client in waiting:
            client.sendall(
                f"GET /v1/evaluations/slow?wait_s=60 HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n"
                f"Authorization: Bearer {TOKEN}\r\n\r\n".encode()
            )
        start = time.monotonic()
        assert ask(f"{url}/health") == 200
        for client in waiting[::2]:
            client.close()
        assert ask(f"{url}/v1/evaluations/slow") == 200
        assert time.monotonic() - start < 2.0
        for client in waiting[1::2]:
            assert b'"status":"done"' in read_all(client)


def test_a_client_that_goes_away_while_it_sends_leaves_no_order(run: RunDir) -> None:
    with serve(run) as url:
        address = url.removeprefix("http://")
        host, port = address.split(":")
        body = json.dumps({"order_id": "half", "request": order("a").payload}).encode()
        with socket.create_connection((host, int(port))) as client:
            client.sendall(
                f"POST /v1/evaluations HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {TOKEN}\r\n"
                f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n".encode()
                + body[:-10]
            )
        assert ask(f"{url}/v1/evaluations/half") == 404
        assert ask(f"{url}/v1/evaluations", method="POST", body=body) == 202
        assert ask(f"{url}/v1/evaluations/half?wait_s=30") == 200


def test_a_full_disk_takes_no_order_in_and_keeps_what_ends(run: RunDir) -> None:
    def send(name: str) -> int:
        body = json.dumps({"order_id": name, "request": order(name, 1.0).payload}).encode()
        return ask(f"{url}/v1/evaluations", method="POST", body=body)

    with serve(run) as url:
        assert send("first") == 202
        with full_disk(10):
            assert send("second") == 507
            assert ask(f"{url}/v1/evaluations/first?wait_s=30") == 200
            assert ask(f"{url}/health") == 503
            assert ask(f"{url}/v1/evaluations/second") == 404
        assert ask(f"{url}/health") == 200
        assert send("second") == 202
        assert ask(f"{url}/v1/evaluations/second?wait_s=30") == 200
    assert not OrderBook(run).list_open()


def read_all(client: socket.socket) -> bytes:
    """Everything that a server says until it hangs up."""
    client.settimeout(30)
    with closing(client):
        return b"".join(iter(lambda: client.recv(1 << 16), b""))

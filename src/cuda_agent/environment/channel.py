"""The judge's ear: a Unix socket that a workspace's commands reach from inside the sandbox.

One request a connection, a line of JSON such as `{"verb": "verify"}`; one answer, a line of JSON with
`status` and `text`. Requests are served one at a time. Whoever connects is untrusted: a request is
bounded in size and in time to arrive, and nothing in it but the verb is used.
"""

import json
import logging
import socket
import struct
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from cuda_agent.environment.client import VERBS, WRONG_USE

MAX_REQUEST_BYTES = 4096
REQUEST_S = 2.0
"""How long a whole request may take to arrive."""
CLOSE_S = 1.0
"""How long closing waits for a request that is being served; who serves it should have been told to end."""
BACKLOG = 16

PEER = struct.Struct("3i")

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Answer:
    """What a command prints, and its exit status."""

    status: int
    """Exit status: 0 passed, 1 a stage failed, 2 wrong use."""
    text: str
    """What it prints."""


class Channel:
    """Serves requests in a thread of its own while the context is open."""

    def __init__(self, path: Path, handle: Callable[[str, int], Answer]) -> None:
        """`handle` gets a verb and the asking process's id, and runs in the channel's thread."""
        self.path = path
        """The socket."""
        self._handle = handle
        self._stopped = threading.Event()
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._thread = threading.Thread(target=self._serve, name="channel", daemon=True)

    def __enter__(self) -> Self:
        """Start listening."""
        self._listener.bind(str(self.path))
        self._listener.listen(BACKLOG)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop, and wait a little for a request that is being served."""
        self.stop()
        self._thread.join(CLOSE_S)
        self.path.unlink(missing_ok=True)

    def stop(self) -> None:
        """Listen no more. A request that is being served goes on, and may fail without a word."""
        if self._stopped.is_set():
            return
        self._stopped.set()
        # shutdown, unlike close, also wakes the thread that waits in accept.
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            with connection:
                try:
                    self._serve_one(connection)
                except Exception:
                    # Whatever one client or its request does, the next one is served.
                    log.exception("a request of the workspace failed")

    def _serve_one(self, connection: socket.socket) -> None:
        try:
            verb = _read_verb(connection)
        except ValueError as error:
            answer = Answer(WRONG_USE, f"not a request: {error}")
        else:
            answer = self._answer(verb, _read_peer(connection))
        reply = json.dumps({"status": answer.status, "text": answer.text}).encode() + b"\n"
        connection.settimeout(REQUEST_S)
        try:
            connection.sendall(reply)
        except OSError as error:
            log.debug("nobody waited for the answer: %s", error)

    def _answer(self, verb: str, peer: int) -> Answer:
        try:
            return self._handle(verb, peer)
        except Exception as error:
            level = logging.DEBUG if self._stopped.is_set() else logging.ERROR
            log.log(level, "the judge failed while serving %s", verb, exc_info=True)
            return Answer(
                WRONG_USE, f"the judge failed, not the submission ({type(error).__name__}): try again"
            )


def _read_verb(connection: socket.socket) -> str:
    """The verb of a request.

    Raises:
        ValueError: too late, too long, not JSON, or no known verb.
    """
    try:
        request = json.loads(_read_line(connection))
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    verb = request.get("verb") if isinstance(request, dict) else None
    if not isinstance(verb, str) or verb not in VERBS:
        raise ValueError(f"the verb must be one of {', '.join(VERBS)}")
    return verb


def _read_line(connection: socket.socket) -> bytes:
    deadline = time.monotonic() + REQUEST_S
    received = b""
    while b"\n" not in received:
        connection.settimeout(max(0.01, deadline - time.monotonic()))
        try:
            part = connection.recv(MAX_REQUEST_BYTES)
        except OSError as error:
            raise ValueError(f"no whole line arrived ({error})") from error
        received += part
        if not part or len(received) > MAX_REQUEST_BYTES or time.monotonic() > deadline:
            raise ValueError(f"no line of at most {MAX_REQUEST_BYTES} bytes arrived within {REQUEST_S:g} s")
    return received.split(b"\n", 1)[0]


def _read_peer(connection: socket.socket) -> int:
    """The asking process's id, as this process sees it."""
    credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, PEER.size)
    return int(PEER.unpack(credentials)[0])

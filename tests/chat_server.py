"""A real HTTP server on this machine that speaks the chat completions protocol from a script."""

import json
import socket
import struct
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

from cuda_agent.llm.chat import Message, Reply, Role, ToolCall

PIECE_BYTES = 100


@dataclass(frozen=True)
class Answer:
    """What the server does with one request."""

    status: int = 200
    """The status line."""
    body: str = ""
    """What follows the headers."""
    headers: dict[str, str] = field(default_factory=dict)
    """Headers beside the usual ones."""
    silent_s: float = 0.0
    """Seconds before it says anything."""
    pause_s: float = 0.0
    """Seconds after each `PIECE_BYTES` of the body."""
    drops: bool = False
    """Whether it closes the connection instead, without a word."""


@dataclass(frozen=True)
class Heard:
    """One request, as it came."""

    path: str
    """Where it was sent."""
    headers: dict[str, str]
    """Its headers, names in lower case."""
    body: dict[str, Any]
    """Its JSON."""


Script = Callable[[Heard], Answer]


def say(
    content: str | None = None,
    *,
    calls: Sequence[tuple[str, object]] = (),
    finish: str = "",
    usage: tuple[int, int] = (100, 10),
) -> Answer:
    """A chat completion: text, and calls as (tool, arguments as an object or as written)."""
    message: dict[str, Any] = {"role": "assistant", "content": content}
    if calls:
        message["tool_calls"] = [
            {"id": f"id-{number}", "type": "function", "function": {"name": tool, "arguments": write(what)}}
            for number, (tool, what) in enumerate(calls)
        ]
    choice = {
        "index": 0,
        "message": message,
        "finish_reason": finish or ("tool_calls" if calls else "stop"),
    }
    counted = {"prompt_tokens": usage[0], "completion_tokens": usage[1], "total_tokens": sum(usage)}
    completion = {"id": "c", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice]}
    return Answer(body=json.dumps({**completion, "usage": counted}))


def answer_as(reply: Reply) -> Answer:
    """The completion that has a reply's text and calls."""
    calls = [(call.name, call.arguments) for call in reply.message.tool_calls]
    return say(reply.message.content, calls=calls)


def read_messages(heard: Heard) -> tuple[Message, ...]:
    """The conversation of a request."""
    return tuple(
        Message(
            role=Role(message["role"]),
            content=message["content"],
            tool_calls=tuple(map(read_call, message.get("tool_calls", ()))),
            tool_call_id=message.get("tool_call_id"),
        )
        for message in heard.body["messages"]
    )


def read_call(call: dict[str, Any]) -> ToolCall:
    """One call of a request's history."""
    function = call["function"]
    return ToolCall(id=call["id"], name=function["name"], arguments=json.loads(function["arguments"]))


def write(arguments: object) -> str:
    """Arguments as the protocol has them: JSON in a string."""
    return arguments if isinstance(arguments, str) else json.dumps(arguments)


class ChatServer:
    """Serves a script while its context is open, and keeps what it was asked."""

    def __init__(self, *answers: Answer, script: Script | None = None) -> None:
        """Give the answers in order, or what makes each from its request."""
        self.heard: list[Heard] = []
        self._answers = list(answers)
        self._script = script or self._take_next
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._build_handler())
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    @property
    def address(self) -> str:
        """What --base-url is given."""
        return f"http://127.0.0.1:{self._server.server_port}/v1"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(timeout=5.0)

    def _take_next(self, heard: Heard) -> Answer:
        return self._answers.pop(0)

    def _build_handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                length = int(self.headers["content-length"])
                headers = {name.lower(): value for name, value in self.headers.items()}
                heard = Heard(self.path, headers, json.loads(self.rfile.read(length)))
                server.heard.append(heard)
                give(self, server._script(heard))

            def log_message(self, *arguments: object) -> None:
                """Say nothing."""

        return Handler


def give(handler: BaseHTTPRequestHandler, answer: Answer) -> None:
    """Send one answer, or do what it does instead."""
    time.sleep(answer.silent_s)
    if answer.drops:
        # A reset, as from a machine that died: close with nothing lingering.
        handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        handler.close_connection = True
        handler.connection.close()
        return
    body = answer.body.encode()
    try:
        handler.send_response(answer.status)
        headers = {"content-type": "application/json", "content-length": str(len(body)), **answer.headers}
        for name, value in headers.items():
            handler.send_header(name, value)
        handler.end_headers()
        size = PIECE_BYTES if answer.pause_s else max(1, len(body))
        for start in range(0, len(body), size):
            handler.wfile.write(body[start : start + size])
            time.sleep(answer.pause_s)
    except OSError:
        handler.close_connection = True  # who asked has gone

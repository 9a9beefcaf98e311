"""The server: the only file that knows the `mcp` package, which the extra of that name brings."""

import functools
import hmac
import signal
import socket
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import ParamSpec, TypeVar

import uvicorn
from anyio import to_thread
from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from cuda_agent import __version__
from cuda_agent.errors import ConfigError, CudaAgentError
from cuda_agent.mcp.tools import Tools

INSTRUCTIONS = Path(__file__).parent / "instructions.md"
LOOPBACK = ("127.0.0.1", "::1", "localhost")
PATH = "/mcp"
SHUTDOWN_S = 2
"""How long open connections may delay the server's end."""

P = ParamSpec("P")
R = TypeVar("R")


@dataclass(frozen=True)
class Address:
    """Where HTTP is served, and to whom."""

    host: str
    """A name or number of this machine's."""
    port: int
    """0 takes a free one; stderr says which."""
    token: str
    """What clients must send as a bearer token; empty where none is needed."""


def build_server(tools: Tools) -> MCPServer[None]:
    """A server whose tools are the public methods of `tools`; each call has a thread of its own."""
    server: MCPServer[None] = MCPServer(
        "cuda-agent",
        version=__version__,
        instructions=INSTRUCTIONS.read_text(encoding="utf-8"),
        log_level="WARNING",
    )
    for name in sorted(name for name in dir(tools) if not name.startswith("_")):
        server.add_tool(_make_tool(getattr(tools, name)))
    return server


def _make_tool(function: Callable[P, R]) -> Callable[P, Awaitable[R]]:
    """The function in a thread, with its errors on purpose as what they say.

    When the client hangs up nobody waits for the thread: its judge is ended, and with that the thread.
    """

    @functools.wraps(function)
    async def call(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return await to_thread.run_sync(
                functools.partial(function, *args, **kwargs), abandon_on_cancel=True
            )
        except CudaAgentError as error:
            raise ToolError(str(error)) from error

    return call


def serve(server: MCPServer[None], address: Address | None) -> None:
    """Serve HTTP at an address until interrupted; without one a client on stdin, until it hangs up.

    Raises:
        ConfigError: the address cannot be served.
    """
    try:
        if address is None:
            server.run("stdio")
        else:
            _serve_http(server, address)
    finally:
        # What is open is closed in peace: a client that hangs up sends this signal moments later.
        signal.signal(signal.SIGTERM, lambda _signal, _frame: None)


def _serve_http(server: MCPServer[None], address: Address) -> None:
    host, port = address.host, address.port
    if host not in LOOPBACK and not address.token:
        raise ConfigError(
            f"{host} can be reached by others, who could then use this machine: name a variable that holds "
            "a secret with --token-env, or serve on 127.0.0.1"
        )
    app: ASGIApp = server.streamable_http_app(streamable_http_path=PATH, host=host)
    if address.token:
        app = BearerGate(app, address.token)
    config = uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=SHUTDOWN_S)
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listener = socket.create_server((host, port), family=family)
    except OSError as error:
        raise ConfigError(f"{host}, port {port}: {error.strerror}; choose another with --port") from error
    with listener:
        shown = f"[{host}]" if ":" in host else host
        print(f"serving http://{shown}:{listener.getsockname()[1]}{PATH}", file=sys.stderr, flush=True)
        uvicorn.Server(config).run(sockets=[listener])


class BearerGate:
    """Lets requests through that carry the token, and no others."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._expected = f"Bearer {token}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer 401 in the app's place to a request without the token."""
        if scope["type"] == "http":
            given = dict(scope["headers"]).get(b"authorization", b"")
            if not hmac.compare_digest(given, self._expected):
                refusal = PlainTextResponse(
                    "a bearer token is needed\n", status_code=401, headers={"WWW-Authenticate": "Bearer"}
                )
                await refusal(scope, receive, send)
                return
        await self._app(scope, receive, send)

"""The pages of a run that goes on, served to this machine alone and made anew when its files change."""

import contextlib
import threading
from collections.abc import Iterator, Sequence
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from cuda_agent.errors import ConfigError, UserError
from cuda_agent.report.build import render_site
from cuda_agent.report.load import load_material

LOOPBACK = "127.0.0.1"
HOSTS = ("127.0.0.1", "localhost")
KINDS = {".html": "text/html; charset=utf-8", ".json": "application/json"}


class LiveSite:
    """Pages in memory, as of the last time that the runs' files had changed."""

    def __init__(self, paths: Sequence[Path]) -> None:
        """The pages as of now.

        Raises:
            UserError: a path holds nothing that a page shows.
        """
        self._paths = tuple(paths)
        self._lock = threading.Lock()
        self._version = _sign(self._paths)
        self._files = dict(render_site(load_material(self._paths), is_live=True))

    def refresh(self) -> str:
        """Make the pages anew if a file has changed; what tells these pages from the ones before."""
        with self._lock:
            version = _sign(self._paths)
            if version != self._version:
                # A run that has only begun may not be readable yet: until it is, the last pages stand.
                with contextlib.suppress(UserError):
                    self._files = dict(render_site(load_material(self._paths), is_live=True))
                    self._version = version
            return self._version

    def find(self, name: str) -> str | None:
        """A page or a twin by its whole name; None for any other name, so no path leads elsewhere."""
        return self._files.get(name)


class LiveServer(ThreadingHTTPServer):
    """Serves the pages on loopback."""

    def __init__(self, site: LiveSite, *, port: int) -> None:
        """Port 0 takes a free one.

        Raises:
            ConfigError: the port is taken.
        """
        self.site = site
        """What it serves."""
        try:
            super().__init__((LOOPBACK, port), LiveHandler)
        except OSError as error:
            cause = f"port {port} cannot be used ({error.strerror})"
            raise ConfigError(f"{cause}; choose another with --port") from error


class LiveHandler(BaseHTTPRequestHandler):
    """Answers GET for pages, twins and the version; everything else is refused."""

    server: LiveServer

    def do_GET(self) -> None:
        """Answer one request."""
        host = (self.headers.get("Host") or "").rpartition(":")[0]
        name = self.path.split("?")[0].removeprefix("/") or "index.html"
        if host not in HOSTS:
            self._answer(HTTPStatus.FORBIDDEN, "this server answers for this machine only\n")
        elif name == "version":
            self._answer(HTTPStatus.OK, self.server.site.refresh())
        elif (text := self.server.site.find(name)) is None:
            self._answer(HTTPStatus.NOT_FOUND, "no such page\n")
        else:
            self._answer(HTTPStatus.OK, text, kind=KINDS[Path(name).suffix])

    def log_message(self, *_: object) -> None:
        """Say nothing: a page asks every two seconds."""

    def _answer(self, status: HTTPStatus, text: str, *, kind: str = "text/plain; charset=utf-8") -> None:
        content = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Cache-Control", "no-store")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.end_headers()
        self.wfile.write(content)


def _sign(paths: Sequence[Path]) -> str:
    """What changes whenever a file below the paths does."""
    newest, count, size_bytes = 0, 0, 0
    for path in _iterate_files(paths):
        with contextlib.suppress(FileNotFoundError):
            found = path.stat()
            newest, count, size_bytes = max(newest, found.st_mtime_ns), count + 1, size_bytes + found.st_size
    return f"{newest}-{count}-{size_bytes}"


def _iterate_files(paths: Sequence[Path]) -> Iterator[Path]:
    for path in paths:
        yield from (each for each in path.rglob("*") if each.is_file()) if path.is_dir() else (path,)

"""Length-prefixed JSON over a Unix socket: the only way the judge and its children speak.

No pickle and no eval: a message is parsed by the pydantic type that the receiver expects, and
anything else is a ProtocolError. File descriptors of mailboxes travel from the judge to a child only.
"""

import contextlib
import os
import socket
import struct
from collections.abc import Sequence
from typing import TypeVar

from pydantic import TypeAdapter, ValidationError

from cuda_agent.config import Record
from cuda_agent.errors import ProtocolError

T = TypeVar("T")

_HEADER = struct.Struct("!I")
_MAX_BYTES = 8 << 20
_MAX_FDS = 4


class PeerGoneError(ProtocolError):
    """The other side closed its end: it has exited or was killed."""


class PeerSilentError(ProtocolError):
    """The other side did not answer in time."""


class Wire:
    """One end of a connection; messages keep their order and their boundaries."""

    def __init__(self, connection: socket.socket) -> None:
        """Take ownership of a connected Unix stream socket."""
        self._connection = connection

    def send(self, message: Record, *, fds: Sequence[int] = ()) -> None:
        """Send one message, and duplicates of `fds` with it.

        Raises:
            PeerGoneError: nobody is there to read it.
        """
        body = message.model_dump_json().encode()
        assert len(body) <= _MAX_BYTES, "our own messages are small"
        try:
            socket.send_fds(self._connection, [_HEADER.pack(len(body))], fds)
            self._connection.sendall(body)
        except OSError as error:
            raise PeerGoneError(f"could not send {type(message).__name__}: {error}") from error

    def receive(self, expected: TypeAdapter[T], *, timeout_s: float | None) -> T:
        """Receive one message of the expected type; None waits for ever.

        Raises:
            PeerGoneError: the connection closed first.
            PeerSilentError: nothing whole came in time.
            ProtocolError: what came is not of that type.
        """
        message, fds = self.receive_with_fds(expected, timeout_s=timeout_s)
        for fd in fds:
            os.close(fd)
        return message

    def receive_with_fds(self, expected: TypeAdapter[T], *, timeout_s: float | None) -> tuple[T, list[int]]:
        """Like `receive`, with the file descriptors that came along; the caller closes them."""
        self._connection.settimeout(timeout_s)
        try:
            header, fds, _, _ = socket.recv_fds(self._connection, _HEADER.size, _MAX_FDS)
            header += self._read(_HEADER.size - len(header)) if header else b""
            if not header:
                raise PeerGoneError("the connection was closed")
            (size,) = _HEADER.unpack(header)
            if size > _MAX_BYTES:
                raise ProtocolError(f"a message of {size} bytes is over the limit of {_MAX_BYTES}")
            return expected.validate_json(self._read(size)), fds
        except TimeoutError as error:
            raise PeerSilentError(f"no answer within {timeout_s} s") from error
        except ValidationError as error:
            raise ProtocolError(f"a malformed message: {error.error_count()} fields are wrong") from error
        except OSError as error:
            raise PeerGoneError(f"the connection broke: {error}") from error

    def close(self) -> None:
        """Close this end; harmless when it is closed."""
        with contextlib.suppress(OSError):
            self._connection.close()

    def _read(self, size: int) -> bytes:
        parts = bytearray()
        while len(parts) < size:
            part = self._connection.recv(min(size - len(parts), 1 << 20))
            if not part:
                raise PeerGoneError("the connection was closed in the middle of a message")
            parts += part
        return bytes(parts)

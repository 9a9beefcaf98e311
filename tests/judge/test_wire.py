"""Messages keep their boundaries, and nothing malformed is taken for one."""

import os
import socket
import struct
from collections.abc import Iterator

import pytest
from pydantic import TypeAdapter

from cuda_agent.errors import ProtocolError
from cuda_agent.judge.replies import REPLY, Called, Done
from cuda_agent.judge.wire import PeerGoneError, PeerSilentError, Wire


@pytest.fixture
def ends() -> Iterator[tuple[Wire, socket.socket]]:
    ours, theirs = socket.socketpair()
    yield Wire(ours), theirs
    ours.close()
    theirs.close()


def test_messages_arrive_whole_and_in_order(ends: tuple[Wire, socket.socket]) -> None:
    wire, other = ends
    Wire(other).send(Called(calls_ms=(1.5, 2.5)))
    Wire(other).send(Done())
    assert wire.receive(REPLY, timeout_s=5) == Called(calls_ms=(1.5, 2.5))
    assert wire.receive(REPLY, timeout_s=5) == Done()


def test_a_file_descriptor_travels(ends: tuple[Wire, socket.socket]) -> None:
    wire, other = ends
    fd = os.memfd_create("note")
    os.write(fd, b"hello")
    Wire(other).send(Done(), fds=[fd])
    os.close(fd)
    _, fds = wire.receive_with_fds(REPLY, timeout_s=5)
    assert os.pread(fds[0], 5, 0) == b"hello"
    os.close(fds[0])


@pytest.mark.parametrize(
    "body", [b"{}", b"[]", b'{"kind": "nonsense"}', b'{"kind": "done", "extra": 1}', b"\xff\xfe", b"NaN"]
)
def test_what_does_not_fit_the_schema_is_refused(ends: tuple[Wire, socket.socket], body: bytes) -> None:
    wire, other = ends
    other.sendall(struct.pack("!I", len(body)) + body)
    with pytest.raises(ProtocolError, match="malformed"):
        wire.receive(REPLY, timeout_s=5)


def test_an_oversized_message_is_refused_before_it_is_read(ends: tuple[Wire, socket.socket]) -> None:
    wire, other = ends
    other.sendall(struct.pack("!I", 1 << 31))
    with pytest.raises(ProtocolError, match="over the limit"):
        wire.receive(REPLY, timeout_s=5)


def test_silence_and_departure_differ(ends: tuple[Wire, socket.socket]) -> None:
    wire, other = ends
    with pytest.raises(PeerSilentError):
        wire.receive(REPLY, timeout_s=0.05)
    other.sendall(struct.pack("!I", 100) + b"half")
    other.close()
    with pytest.raises(PeerGoneError):
        wire.receive(REPLY, timeout_s=5)


def test_any_type_can_be_expected(ends: tuple[Wire, socket.socket]) -> None:
    wire, other = ends
    Wire(other).send(Done())
    assert wire.receive(TypeAdapter(Done), timeout_s=5) == Done()

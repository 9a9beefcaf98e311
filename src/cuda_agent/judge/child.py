"""What the two child programs share: one socket, one request at a time, one reply each."""

import gc
import os
import socket
import sys
import traceback
from collections.abc import Callable, Mapping
from typing import Any

from cuda_agent.judge.device import Device, collect_versions, open_device
from cuda_agent.judge.mailbox import DeviceMailbox, HostMailbox, Mailbox
from cuda_agent.judge.operator_record import OperatorRecord
from cuda_agent.judge.protocol import REQUEST, Attach, Prepare, Wake
from cuda_agent.judge.replies import Done, Failed, Prepared, Reply
from cuda_agent.judge.wire import PeerGoneError, Wire
from cuda_agent.tasks.target import Target

SOCKET_FD_VARIABLE = "CUDA_AGENT_SOCKET_FD"
"""Environment variable that names the inherited socket."""

Handler = Callable[[Any], Reply]
"""Answers one kind of request."""

_TRACEBACK_LINES = 12


class Child:
    """A child's end: its device, its two mailboxes, and the loop that answers requests."""

    def __init__(self, wire: Wire, *, rehearse: Callable[[Device], None] = lambda _device: None) -> None:
        """Start unprepared and with no mailbox.

        On cuda `rehearse` is called once the device is there: what it runs is loaded before it counts.
        """
        self.device: Device | None = None
        self._target = Target.CPU
        self._wire = wire
        self._rehearse = rehearse
        self._boxes: dict[str, Mailbox] = {}

    @property
    def inbox(self) -> Mailbox:
        """Where inputs and weights arrive."""
        return self._boxes["inbox"]

    @property
    def outbox(self) -> Mailbox:
        """Where outputs leave."""
        return self._boxes["outbox"]

    def serve(self, handlers: Mapping[str, Handler]) -> None:
        """Answer until the judge hangs up. A handler's failure becomes a reply, not an exit."""
        while True:
            try:
                request, fds = self._wire.receive_with_fds(REQUEST, timeout_s=None)
            except PeerGoneError:
                return
            try:
                reply = self._answer(request, fds, handlers=handlers)
                if self.device is not None:
                    # A reply says that it is done: the other side may now write to what was read.
                    self.device.synchronize()
            except Exception as error:  # a process boundary (see errors.py)
                reply = Failed(reason=_describe_error(error), detail=_cut_traceback())
            self._wire.send(reply)

    def prepare(self, request: Prepare) -> Prepared:
        """Pay for the device before anything untrusted is loaded."""
        self._target = request.target
        self.device = open_device(request.target, precision=request.precision, threads=request.threads)
        if request.target is Target.CPU:
            with OperatorRecord():  # the profiler starts a thread of its own, which must not count as new
                pass
        else:
            # CUDA loads each kernel of torch when it first runs, which takes seconds for all of a judgement.
            self._rehearse(self.device)
            self.device.synchronize()
        gc.collect()
        gc.freeze()
        return Prepared(device=self.device.name, versions=collect_versions(request.target))

    def attach(self, request: Attach, fds: list[int]) -> Done:
        """Open a mailbox in place of the one of that name."""
        if request.box in self._boxes:
            self._boxes.pop(request.box).close()
        if self._target is Target.CUDA:
            self._boxes[request.box] = DeviceMailbox.borrow(bytes.fromhex(request.handle), request.nbytes)
        else:
            self._boxes[request.box] = HostMailbox(fds[0], request.nbytes)
        return Done()

    def wake(self) -> Done:
        """Keep the device busy for a moment."""
        assert self.device is not None, "prepare comes first"
        self.device.wake()
        return Done()

    def _answer(self, request: Any, fds: list[int], *, handlers: Mapping[str, Handler]) -> Reply:  # noqa: ANN401
        if isinstance(request, Prepare):
            return self.prepare(request)
        if isinstance(request, Attach):
            return self.attach(request, fds)
        if isinstance(request, Wake):
            return self.wake()
        return handlers[request.kind](request)


def connect() -> Wire:
    """The wire on the socket that the judge left open for this process."""
    connection = socket.socket(fileno=int(os.environ.pop(SOCKET_FD_VARIABLE)))
    connection.set_inheritable(False)
    return Wire(connection)


def _describe_error(error: BaseException) -> str:
    text = str(error).strip() or "no message"
    return f"{type(error).__name__}: {text.splitlines()[0][:400]}"


def _cut_traceback() -> str:
    lines = "".join(traceback.format_exception(*sys.exc_info())).splitlines()
    return "\n".join(lines[-_TRACEBACK_LINES:])[:4000]

"""Who may use a device at present, among all judges of this machine.

Any number may verify at once; whoever takes times has the device alone. Both are locks of the kernel's,
so that a judge that dies gives its lease back. Whoever wants to come in, in either way, passes a gate one
at a time: otherwise those who verify, one after another, would keep out for ever whoever waits to time.
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import torch

from cuda_agent.tasks.target import Target


class Lease:
    """The use of one device."""

    def __init__(self, device: str, *, folder: Path = Path("/tmp")) -> None:
        """Name the device; `folder` is where judges meet."""
        self._gate, self._lock = (folder / f"cuda-agent-{device}.{part}" for part in ("gate", "lock"))

    @contextmanager
    def share(self) -> Iterator[None]:
        """Use it together with others who share it."""
        with self._hold(fcntl.LOCK_SH):
            yield

    @contextmanager
    def take(self) -> Iterator[None]:
        """Use it alone."""
        with self._hold(fcntl.LOCK_EX):
            yield

    @contextmanager
    def _hold(self, way: int) -> Iterator[None]:
        with _open(self._lock) as lock:
            with _open(self._gate) as gate:
                fcntl.flock(gate, fcntl.LOCK_EX)
                fcntl.flock(lock, way)
            yield


@contextmanager
def _open(path: Path) -> Iterator[int]:
    """Open a file that all users of this machine may lock, making it where it lacks."""
    try:
        # Not O_CREAT at once: the kernel may refuse that for another user's file in a shared folder.
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except FileNotFoundError:
        descriptor = os.open(path, os.O_RDONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o644)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def name_device(target: Target) -> str:
    """What tells this machine's devices apart, whatever number a process knows them by."""
    if target is Target.CPU:
        return "cpu"
    return str(torch.cuda.get_device_properties(0).uuid)

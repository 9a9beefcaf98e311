"""One of our own programs in a sandbox, with a wire to it: whatever runs others' code is started this way."""

import os
import socket
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import cuda_agent
from cuda_agent.judge.child import SOCKET_FD_VARIABLE
from cuda_agent.judge.wire import Wire
from cuda_agent.sandbox.protocol import Command, Limits, Mount, Running, Sandbox
from cuda_agent.tasks.target import Target

KEPT_HEAP = {
    "MALLOC_MMAP_MAX_": "0",
    "MALLOC_TRIM_THRESHOLD_": str(1 << 40),
    "MALLOC_ARENA_MAX": "1",
}
"""Large tensors come from a heap that is kept, as in a long-running server: otherwise page faults hide what
is computed (docs/design/judge.md)."""

_PROCESSES = 1024


class WiredProcess:
    """A sandboxed process that answers over a wire, from start to kill."""

    def __init__(
        self,
        program: Sequence[str],
        *,
        sandbox: Sandbox,
        target: Target,
        scratch: Path,
        env: Mapping[str, str],
        mounts: Sequence[Mount] = (),
    ) -> None:
        """Start `python -m program` with one end of a socket.

        Args:
            program: module to run, and its arguments.
            sandbox: how to contain it.
            target: decides whether it sees a GPU.
            scratch: its working folder, made for it alone; its log lies beside.
            env: its environment, beside what every such process needs.
            mounts: what it can see beside its scratch folder.
        """
        ours, theirs = socket.socketpair()
        self.log = scratch.with_suffix(".log")
        """What it and all that it starts print."""
        command = Command(
            argv=[sys.executable, "-P", "-m", *program],
            cwd=scratch,
            mounts=[Mount(path=scratch, writable=True), *mounts],
            env=_build_environment(target, theirs.fileno()) | dict(env),
            pass_fds=[theirs.fileno()],
            gpu=target is Target.CUDA,
            limits=_build_limits(target),
        )
        self.running: Running = sandbox.start(command, self.log)
        """The process."""
        theirs.close()
        self.wire = Wire(ours)
        """How to speak with it."""

    def close(self) -> None:
        """Kill it with all that it has started, and reap it; harmless when it is gone."""
        self.running.kill()
        self.wire.close()


def _build_environment(target: Target, socket_fd: int) -> dict[str, str]:
    environment = {
        SOCKET_FD_VARIABLE: str(socket_fd),
        "PYTHONPATH": str(Path(cuda_agent.__file__).parents[1]),
    }
    if target is Target.CPU:
        environment["CUDA_VISIBLE_DEVICES"] = ""
    elif (visible := os.environ.get("CUDA_VISIBLE_DEVICES")) is not None:
        environment["CUDA_VISIBLE_DEVICES"] = visible
    return environment


def _build_limits(target: Target) -> Limits:
    # A CUDA driver maps more address space than there is memory.
    memory_bytes = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") if target is Target.CPU else None
    return Limits(memory_bytes=memory_bytes, processes=_PROCESSES)

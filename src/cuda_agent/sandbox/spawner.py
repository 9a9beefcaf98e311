"""Start processes from a thread that lives as long as the sandbox.

The kernel's parent-death signal fires when the starting *thread* ends, not the process. A command that
is started from a short-lived worker thread must not die with that thread, so all starts are handed to
one thread that stays.
"""

import os
import subprocess
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import IO

Stream = int | IO[bytes]
"""A file, or one of subprocess's constants."""


@dataclass(frozen=True, kw_only=True)
class Streams:
    """Where a process's three standard streams go."""

    stdin: Stream
    """Input."""
    stdout: Stream
    """Output."""
    stderr: Stream
    """Errors."""


class Spawner:
    """One long-lived thread that starts processes; made anew after a fork."""

    def __init__(self) -> None:
        self._renew()

    def _renew(self) -> None:
        self._owner = os.getpid()
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="sandbox-spawner")

    def spawn(
        self, argv: Sequence[str], *, env: Mapping[str, str], pass_fds: Sequence[int], streams: Streams
    ) -> subprocess.Popen[bytes]:
        """Start `argv` in a session of its own, at the root folder, with exactly this environment."""
        if self._owner != os.getpid():
            self._renew()
        start = partial(_start, argv, env=env, pass_fds=pass_fds, streams=streams)
        return self._thread.submit(start).result()


def _start(
    argv: Sequence[str], *, env: Mapping[str, str], pass_fds: Sequence[int], streams: Streams
) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        list(argv),
        env=dict(env),
        cwd="/",
        pass_fds=tuple(pass_fds),
        stdin=streams.stdin,
        stdout=streams.stdout,
        stderr=streams.stderr,
        start_new_session=True,
    )

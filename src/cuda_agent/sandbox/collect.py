"""Run a started group to its end, feeding its input and keeping its output."""

import os
import selectors
import time
from dataclasses import dataclass
from typing import IO, Self

from cuda_agent.sandbox.capture import BoundedOutput
from cuda_agent.sandbox.group import Group
from cuda_agent.sandbox.protocol import Completed, Limits

CHUNK_BYTES = 1 << 16
DRAIN_S = 1.0
"""How long to read on after the end: a descendant that escaped could hold the streams open for ever."""


def collect(group: Group, stdin: bytes, *, limits: Limits) -> Completed:
    """Wait for the end or the wall-clock limit, then kill what is left. Works in bounded memory."""
    start_s = time.monotonic()
    with group, _Pump(group, stdin, limits.output_bytes) as pump:
        timed_out = not pump.run(start_s + limits.wall_s, until_end=True)
        duration_s = time.monotonic() - start_s
        group.kill()
        pump.run(time.monotonic() + DRAIN_S, until_end=False)
    returncode = group.poll()
    assert returncode is not None
    return Completed(
        returncode=returncode,
        stdout=pump.stdout.read_text(),
        stderr=pump.stderr.read_text(),
        timed_out=timed_out,
        duration_s=duration_s,
    )


@dataclass(frozen=True)
class _Output:
    """An open output stream and where its bytes go."""

    stream: IO[bytes]
    kept: BoundedOutput


class _Pump:
    """Moves bytes between us and a group without threads; never blocks on either side."""

    def __init__(self, group: Group, stdin: bytes, output_bytes: int) -> None:
        self.stdout = BoundedOutput(output_bytes)
        self.stderr = BoundedOutput(output_bytes)
        self._input = memoryview(stdin)
        self._process = group.process
        self._selector = selectors.DefaultSelector()
        self._end_fd = os.pidfd_open(group.process.pid)

    def __enter__(self) -> Self:
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        self._selector.register(self._end_fd, selectors.EVENT_READ, None)
        for stream, kept in ((process.stdout, self.stdout), (process.stderr, self.stderr)):
            os.set_blocking(stream.fileno(), False)
            self._selector.register(stream, selectors.EVENT_READ, _Output(stream, kept))
        os.set_blocking(process.stdin.fileno(), False)
        self._selector.register(process.stdin, selectors.EVENT_WRITE, process.stdin)
        return self

    def __exit__(self, *_error: object) -> None:
        self._selector.close()
        os.close(self._end_fd)
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            assert stream is not None
            stream.close()

    def run(self, deadline_s: float, *, until_end: bool) -> bool:
        """Move bytes until the process ends (or, after its end, the streams do); False at the deadline."""
        while self._selector.get_map():
            left_s = deadline_s - time.monotonic()
            if left_s <= 0:
                return False
            for key, _ in self._selector.select(left_s):
                if key.data is None:
                    self._selector.unregister(self._end_fd)
                    if until_end:
                        return True
                elif isinstance(key.data, _Output):
                    self._read(key.data)
                else:
                    self._write(key.data)
        return True

    def _read(self, output: _Output) -> None:
        chunk = os.read(output.stream.fileno(), CHUNK_BYTES)
        if chunk:
            output.kept.add(chunk)
        else:
            self._selector.unregister(output.stream)

    def _write(self, stream: IO[bytes]) -> None:
        try:
            written = os.write(stream.fileno(), self._input[:CHUNK_BYTES])
        except BrokenPipeError:
            written = len(self._input)
        self._input = self._input[written:]
        if not self._input:
            self._selector.unregister(stream)
            stream.close()

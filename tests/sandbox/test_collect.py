"""Collecting moves bytes without blocking, also when streams outlive the process."""

import subprocess
import sys
import time

from cuda_agent.sandbox.collect import DRAIN_S, collect
from cuda_agent.sandbox.group import Group
from cuda_agent.sandbox.protocol import Completed, Limits


def run(*argv: str, stdin: bytes = b"", limits: Limits | None = None) -> Completed:
    pipe = subprocess.PIPE
    process = subprocess.Popen(argv, stdin=pipe, stdout=pipe, stderr=pipe)
    return collect(Group(process, stop=process.kill, settle=lambda: None), stdin, limits=limits or Limits())


def test_large_input_and_output_at_once() -> None:
    text = b"0123456789abcdef" * (1 << 16)
    assert run("cat", stdin=text, limits=Limits(output_bytes=1 << 21)).stdout == text.decode()


def test_a_stream_held_open_by_an_escaped_process_does_not_hang() -> None:
    start_s = time.monotonic()
    completed = run("sh", "-c", "echo out; sleep 30 & echo $!")
    assert time.monotonic() - start_s < DRAIN_S + 5
    out, pid = completed.stdout.split()
    assert out == "out"
    subprocess.run(["kill", pid], check=True)


def test_a_closed_stream_is_not_the_end() -> None:
    completed = run(sys.executable, "-c", "import os, time; os.close(1); time.sleep(0.3); os._exit(5)")
    assert completed.returncode == 5
    assert completed.duration_s >= 0.3

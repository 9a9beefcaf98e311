"""Try each promise of a sandbox on this machine, with real attempts to break it.

The attempts themselves are in `probe`, which runs inside.
"""

import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from cuda_agent.sandbox import probe
from cuda_agent.sandbox.protocol import Command, Completed, Containment, Limits, Mount, Sandbox

SECRET = "cuda-agent-self-test-secret"
PROCESSES = 32
MEMORY_BYTES = 512 << 20
FILE_BYTES = 1 << 20
OUTPUT_BYTES = 1 << 16
FLOOD_BYTES = 64 << 20
WALL_S = 20.0


class PromiseStatus(StrEnum):
    """What a self-test found about one promise."""

    HELD = "held"
    """The attempt failed, as promised."""
    NOT_HELD = "not held"
    """The attempt succeeded although the promise was given."""
    NOT_PROMISED = "not promised"
    """This sandbox does not promise it here, and the attempt succeeded."""


@dataclass(frozen=True, kw_only=True)
class Promise:
    """One promise and what became of it."""

    name: str
    """What is promised, as a sentence."""
    status: PromiseStatus
    """What was found."""
    detail: str
    """What the attempt saw."""


@dataclass(frozen=True, kw_only=True)
class _Stage:
    """A sandbox and a folder made for one attempt."""

    sandbox: Sandbox
    folder: Path

    def attempt(self, *arguments: str, limits: Limits | None = None) -> Completed:
        """Run one attempt of `probe` inside, with this folder's `inside` writable."""
        return self.sandbox.run(self.build_command(*arguments, limits=limits))

    def build_command(self, *arguments: str, limits: Limits | None = None) -> Command:
        """The command that makes one attempt."""
        inside = self.folder / "inside"
        return Command(
            argv=[sys.executable, "-I", probe.__file__, *arguments],
            cwd=inside,
            mounts=[Mount(path=inside, writable=True)],
            limits=limits or Limits(wall_s=WALL_S),
        )


Attempt = Callable[[_Stage], tuple[bool, str]]
"""Whether the promise held, and what was seen."""


def run_selftest(sandbox: Sandbox) -> tuple[Promise, ...]:
    """Try every promise; takes a few seconds and leaves nothing behind."""
    promises = []
    for name, (attempt, always) in ATTEMPTS.items():
        with tempfile.TemporaryDirectory(prefix="cuda-agent-selftest-") as folder:
            Path(folder).chmod(0o755)  # the process sandbox's user must be able to pass
            Path(folder, "inside").mkdir()
            held, detail = attempt(_Stage(sandbox=sandbox, folder=Path(folder)))
        promised = always or sandbox.containment is Containment.BUBBLEWRAP
        failed = PromiseStatus.NOT_HELD if promised else PromiseStatus.NOT_PROMISED
        status = PromiseStatus.HELD if held else failed
        promises.append(Promise(name=name, status=status, detail=detail))
    return tuple(promises)


def _judge(completed: Completed) -> tuple[bool, str]:
    """Held unless the attempt says that it was done; an attempt that did not report says why."""
    try:
        report = json.loads(completed.stdout)
    except ValueError:
        return False, f"no report (status {completed.returncode}): {completed.stderr.strip()[-200:]}"
    return not report["done"], str(report["detail"])


def _try_host_file(stage: _Stage) -> tuple[bool, str]:
    secret = stage.folder / "secret"
    secret.write_text(SECRET)
    secret.chmod(0o600)
    return _judge(stage.attempt("read", str(secret)))


def _try_environment(stage: _Stage) -> tuple[bool, str]:
    with _start_bystander({"CUDA_AGENT_PROBE": SECRET}) as bystander:
        return _judge(stage.attempt("environment", "CUDA_AGENT_PROBE", str(bystander.pid)))


def _try_network(stage: _Stage) -> tuple[bool, str]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return _judge(stage.attempt("connect", str(listener.getsockname()[1])))


def _try_system(stage: _Stage) -> tuple[bool, str]:
    folders = ("/usr", "/usr/local/bin", "/etc", "/", sys.prefix, str(stage.folder))
    paths = [Path(folder, f"cuda-agent-probe-{stage.folder.name}") for folder in folders]
    held, detail = _judge(stage.attempt("write", *map(str, paths)))
    written = [path for path in paths if path.exists()]  # a private folder inside may have the same name
    for path in written:
        path.unlink()
    return held and not written, f"wrote {written[0]}" if written else detail


def _try_signal(stage: _Stage) -> tuple[bool, str]:
    with _start_bystander({}) as bystander:
        return _judge(stage.attempt("signal", str(bystander.pid)))


def _try_fork(stage: _Stage) -> tuple[bool, str]:
    limits = Limits(wall_s=WALL_S, processes=PROCESSES)
    return _judge(stage.attempt("fork", str(4 * PROCESSES), limits=limits))


def _try_memory(stage: _Stage) -> tuple[bool, str]:
    limits = Limits(wall_s=WALL_S, memory_bytes=MEMORY_BYTES)
    return _judge(stage.attempt("allocate", str(2 * MEMORY_BYTES), limits=limits))


def _try_file_size(stage: _Stage) -> tuple[bool, str]:
    limits = Limits(wall_s=WALL_S, file_bytes=FILE_BYTES)
    path = stage.folder / "inside" / "big"
    return _judge(stage.attempt("grow", str(path), str(2 * FILE_BYTES), limits=limits))


def _try_output(stage: _Stage) -> tuple[bool, str]:
    limits = Limits(wall_s=WALL_S, output_bytes=OUTPUT_BYTES)
    completed = stage.attempt("flood", str(FLOOD_BYTES), limits=limits)
    kept = len(completed.stdout)
    return completed.returncode == 0 and kept < 2 * OUTPUT_BYTES, f"kept {kept} of {FLOOD_BYTES} bytes"


def _try_wall_clock(stage: _Stage) -> tuple[bool, str]:
    sign = stage.folder / "inside" / "sign"
    completed = stage.attempt("linger", str(sign), limits=Limits(wall_s=1.0))
    return completed.timed_out and _is_still(sign), f"ended after {completed.duration_s:.2f} s"


def _try_kill(stage: _Stage) -> tuple[bool, str]:
    sign = stage.folder / "inside" / "sign"
    with stage.sandbox.start(stage.build_command("linger", str(sign)), stage.folder / "log"):
        alive = _wait_for(sign)
    return alive and _is_still(sign), "killed a command whose child had left its session"


def _wait_for(path: Path) -> bool:
    end_s = time.monotonic() + WALL_S
    while not path.exists() and time.monotonic() < end_s:
        time.sleep(0.02)
    return path.exists()


def _is_still(path: Path) -> bool:
    """Whether nobody touches a file any more (one that was touched at least once)."""
    if not path.exists():
        return False
    before = path.stat().st_mtime_ns
    time.sleep(0.2)
    return path.stat().st_mtime_ns == before


@contextmanager
def _start_bystander(extra: dict[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    """An innocent process of ours, outside of the sandbox."""
    bystander = subprocess.Popen(["/bin/sleep", "60"], env={**os.environ, **extra})
    try:
        yield bystander
    finally:
        bystander.kill()
        bystander.wait()


ATTEMPTS: dict[str, tuple[Attempt, bool]] = {
    "cannot read a file outside its mounts": (_try_host_file, False),
    "cannot see our environment": (_try_environment, False),
    "has no network": (_try_network, False),
    "cannot write into the system or beside its mounts": (_try_system, False),
    "cannot see or signal our processes": (_try_signal, False),
    "cannot have more processes than allowed": (_try_fork, False),
    "cannot take more address space than allowed": (_try_memory, True),
    "cannot write a larger file than allowed": (_try_file_size, True),
    "cannot fill our memory with its output": (_try_output, True),
    "ends at the wall-clock limit, with all it started": (_try_wall_clock, True),
    "ends when killed, with all it started": (_try_kill, True),
}
"""What is tried, and whether every sandbox promises it (else only bubblewrap does)."""

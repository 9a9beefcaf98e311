"""Looks at a suite's tasks in a sandboxed process that outlives them; a crash costs only the one."""

import os
import shutil
import socket
import sys
import tempfile
import time
from pathlib import Path
from types import TracebackType
from typing import Self

from pydantic import TypeAdapter

import cuda_agent
from cuda_agent.bench.gate import Basis, GateRecord, Standing, Survey, Surveyed
from cuda_agent.bench.suite import SuiteTask
from cuda_agent.errors import ProtocolError
from cuda_agent.judge.child import SOCKET_FD_VARIABLE
from cuda_agent.judge.gate import find_fault
from cuda_agent.judge.wire import Wire
from cuda_agent.sandbox.protocol import Command, Limits, Mount, Running, Sandbox

LIMIT_S = 180.0
"""Seconds that one task may take; much longer than any should."""
_PROGRAM = "cuda_agent.bench.survey"
_SURVEYED: TypeAdapter[Surveyed] = TypeAdapter(Surveyed)


class Surveyor:
    """Says of one task after another where it stands with the gate."""

    def __init__(self, *, sandbox: Sandbox, limit_s: float = LIMIT_S) -> None:
        """Nothing is started before the first task."""
        self._sandbox = sandbox
        self._limit_s = limit_s
        self._folder = Path(tempfile.mkdtemp(prefix="cuda-agent-survey-"))
        self._folder.chmod(0o755)
        self._running: Running | None = None
        self._wire: Wire | None = None

    def survey(self, each: SuiteTask) -> GateRecord:
        """Where a task stands; one that ends or stops its process is UNKNOWN, and says so."""
        start_s = time.monotonic()
        wire = self._wire or self._start()
        try:
            wire.send(Survey(code=each.task.source))
            found = wire.receive(_SURVEYED, timeout_s=self._limit_s)
        except ProtocolError as error:
            self._stop()
            found = Surveyed(basis=Basis.NONE, reason=f"the process that ran it did not answer: {error}")
        fault = find_fault(found.gate) if found.gate else found.reason
        standing = Standing.UNKNOWN if found.gate is None else Standing.FAILS if fault else Standing.PASSES
        return GateRecord(
            task_id=each.task.task_id,
            place=each.place,
            level=each.level,
            standing=standing,
            reason=fault,
            basis=found.basis,
            changes=found.changes,
            facts=found.facts,
            seconds=time.monotonic() - start_s,
        )

    def close(self) -> None:
        """End the process and remove its folder."""
        self._stop()
        shutil.rmtree(self._folder, ignore_errors=True)

    def __enter__(self) -> Self:
        """The surveyor itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the process."""
        self.close()

    def _start(self) -> Wire:
        ours, theirs = socket.socketpair()
        scratch = Path(tempfile.mkdtemp(prefix="scratch-", dir=self._folder))
        command = Command(
            argv=[sys.executable, "-P", "-m", _PROGRAM],
            cwd=scratch,
            mounts=[Mount(path=scratch, writable=True)],
            env={
                SOCKET_FD_VARIABLE: str(theirs.fileno()),
                "PYTHONPATH": str(Path(cuda_agent.__file__).parents[1]),
                "OMP_NUM_THREADS": str(len(os.sched_getaffinity(0))),
                "CUDA_VISIBLE_DEVICES": "",
                "HF_HUB_OFFLINE": "1",
            },
            pass_fds=[theirs.fileno()],
            limits=Limits(
                memory_bytes=os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"), processes=1024
            ),
        )
        self._running = self._sandbox.start(command, scratch.with_suffix(".log"))
        theirs.close()
        self._wire = Wire(ours)
        return self._wire

    def _stop(self) -> None:
        if self._running is not None:
            self._running.kill()
        if self._wire is not None:
            self._wire.close()
        self._running = self._wire = None

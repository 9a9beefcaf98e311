"""Looks at a suite's tasks in sandboxed processes that outlive them; a crash costs only the one."""

import os
import tempfile
import time
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import ExitStack, contextmanager
from pathlib import Path
from queue import SimpleQueue

from pydantic import TypeAdapter

from cuda_agent.bench.gate import MEMORY_BYTES, Basis, GateRecord, Standing, Survey, Surveyed
from cuda_agent.bench.suite import SuiteTask
from cuda_agent.closing import Closing
from cuda_agent.errors import ProtocolError
from cuda_agent.judge.gate import find_fault
from cuda_agent.judge.wired_process import KEPT_HEAP, WiredProcess
from cuda_agent.sandbox.protocol import Sandbox
from cuda_agent.scratch import remove_tree
from cuda_agent.tasks.target import Target
from cuda_agent.workers.cores import count_cores

LIMIT_S = 180.0
"""Seconds that one task may take; much longer than any should."""
_PROGRAM = "cuda_agent.bench.survey"
_SURVEYED: TypeAdapter[Surveyed] = TypeAdapter(Surveyed)


class Surveyor(Closing):
    """Says of one task after another where it stands with the gate."""

    def __init__(self, *, sandbox: Sandbox, limit_s: float = LIMIT_S) -> None:
        """Nothing is started before the first task."""
        self._sandbox = sandbox
        self._limit_s = limit_s
        self._folder = Path(tempfile.mkdtemp(prefix="cuda-agent-survey-"))
        self._folder.chmod(0o755)
        self._process: WiredProcess | None = None

    def survey(self, each: SuiteTask) -> GateRecord:
        """Where a task stands; one that ends or stops its process is UNKNOWN, and says so."""
        start_s = time.monotonic()
        wire = (self._process or self._start()).wire
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
        remove_tree(self._folder)

    def _start(self) -> WiredProcess:
        self._process = WiredProcess(
            [_PROGRAM],
            sandbox=self._sandbox,
            target=Target.CPU,
            scratch=Path(tempfile.mkdtemp(prefix="scratch-", dir=self._folder)),
            env=KEPT_HEAP | {"OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"},
        )
        return self._process

    def _stop(self) -> None:
        if self._process is not None:
            self._process.close()
        self._process = None


def survey_suite(
    tasks: Sequence[SuiteTask], *, sandbox: Sandbox, surveyors: int | None = None
) -> Generator[GateRecord, None, None]:
    """Where each of these tasks stands, as it becomes known; the later levels first, which take longest.

    Args:
        tasks: what to look at.
        sandbox: how the processes are contained.
        surveyors: how many tasks are looked at at once; by default as many as cores and memory bear.
    """
    later_first = sorted(tasks, key=lambda each: -each.level)
    count = surveyors or _count_surveyors()
    with ExitStack() as ending, ThreadPoolExecutor(count) as pool:
        idle: SimpleQueue[Surveyor] = SimpleQueue()
        for _ in range(count):
            idle.put(ending.enter_context(Surveyor(sandbox=sandbox)))

        def survey(each: SuiteTask) -> GateRecord:
            surveyor = idle.get()
            try:
                return surveyor.survey(each)
            finally:
                idle.put(surveyor)

        with _abandoning(pool, ending):
            for future in as_completed([pool.submit(survey, each) for each in later_first]):
                yield future.result()


@contextmanager
def _abandoning(pool: ThreadPoolExecutor, ending: ExitStack) -> Iterator[None]:
    """Whoever stops listening waits for nothing: what has not begun is dropped, what has begun is ended."""
    try:
        yield
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        ending.close()


def _count_surveyors() -> int:
    """One for each core, as far as memory bears it."""
    memory_bytes = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return max(1, min(count_cores(), memory_bytes // (2 * MEMORY_BYTES)))

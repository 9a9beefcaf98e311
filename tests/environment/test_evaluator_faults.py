"""Whatever goes wrong: the status says so, and the next evaluation is right and on time."""

import functools
import os
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from cuda_agent.environment.evaluator import make_item
from cuda_agent.environment.result import Evaluation
from cuda_agent.environment.submission import Submission
from cuda_agent.judge.census import find_processes_below
from cuda_agent.sandbox.protocol import Containment, Sandbox
from cuda_agent.tasks.target import Target
from cuda_agent.tasks.task import Task
from cuda_agent.workers.item import Outcome, OutcomeStatus, Tier, WorkItem
from cuda_agent.workers.local import LocalWorker
from cuda_agent.workers.worker_pool import WorkerPool
from tests.environment.conftest import KERNEL, MODEL

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]
ROOT = Path(__file__).resolve().parents[2]
HONEST = Submission({"model_new.py": MODEL.encode(), "kernels/k.cpp": KERNEL.encode()})
PASSED = ("ok", "profile:clock_disputed")  # the machine may be busy


def in_kernel(statement: str) -> Submission:
    """The honest submission, but for what its kernel does first."""
    kernel = KERNEL.replace("  const float* in", f"  {statement}\n  const float* in")
    head = "#include <cstdlib>\n#include <sys/mman.h>\n"
    return Submission({"model_new.py": MODEL.encode(), "kernels/k.cpp": (head + kernel).encode()})


def in_forward(statement: str) -> Submission:
    model = MODEL.replace("        out = ", f"        {statement}\n        out = ")
    return Submission({"model_new.py": model.encode(), "kernels/k.cpp": KERNEL.encode()})


FAULTS = {
    "segfault": (in_kernel("*(volatile int*)8 = 1;"), {"verify:crashed"}, "SIGSEGV"),
    "abort": (in_kernel("std::abort();"), {"verify:crashed"}, "SIGABRT"),
    "out-of-bounds write": (
        in_kernel("for (int64_t i = 0; i < (1L << 40); ++i) ((volatile char*)out.data<float>())[i] = 1;"),
        {"verify:crashed"},
        "SIG",
    ),
    "infinite host loop": (
        in_kernel("for (volatile int i = 0;; i = 0) {}"),
        {"verify:timed_out"},
        "no answer",
    ),
    "100 GB at once": (
        in_forward("torch.empty(100 << 30, dtype=torch.uint8).fill_(1)"),
        {"verify:forward_error", "verify:crashed"},
        "",
    ),
    "fork bomb": (
        in_forward("import os\n        while True: os.fork()"),
        {"verify:crashed", "verify:forward_error", "verify:timed_out"},
        "",
    ),
    "full disk": (
        in_forward(
            "for number in range(24):\n"
            '            with open(f"/tmp/{number}", "wb") as file: file.write(bytes(128 << 20))'
        ),
        {"verify:forward_error"},
        "No space left on device",
    ),
}


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WorkerPool]:
    place, before = tmp_path_factory.mktemp("scratch"), tempfile.tempdir
    env = {
        "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'src'}",
        "XDG_CACHE_HOME": str(tmp_path_factory.mktemp("cache")),
    }
    make = functools.partial(LocalWorker, "tests.environment.unchecked:Unchecked", name="w", env=env)
    ours = find_processes_below(os.getpid()).keys()
    tempfile.tempdir = str(place)
    try:
        with WorkerPool({Tier.HOST: [make], Tier.DEVICE: [make]}) as pool:
            yield pool
            assert not pool.causes
    finally:
        tempfile.tempdir = before
    deadline_s = time.monotonic() + 10
    while find_processes_below(os.getpid()).keys() - ours and time.monotonic() < deadline_s:
        time.sleep(0.1)
    assert not find_processes_below(os.getpid()).keys() - ours
    assert not list(place.iterdir())


@pytest.fixture(scope="module")
def usual_s(pool: WorkerPool, tiny_task: Task) -> float:
    """How long the honest submission takes on a warm judge."""
    for name in ("cold", "warm"):
        outcome = run_one(pool, make(name, tiny_task, submission=HONEST))
        assert judged(outcome).verdict in PASSED
    return outcome.times[-1].ran_s


def make(name: str, task: Task, *, submission: Submission) -> WorkItem:
    return make_item(name, task, submission=submission, target=Target.CPU)


def run_one(pool: WorkerPool, item: WorkItem) -> Outcome:
    (outcome,) = pool.run([item])
    return outcome


def judged(outcome: Outcome) -> Evaluation:
    assert outcome.status is OutcomeStatus.DONE, outcome
    return Evaluation.model_validate(outcome.value)


@pytest.mark.timing
@pytest.mark.parametrize("fault", FAULTS)
def test_the_next_honest_one_is_right_and_on_time(
    fault: str, pool: WorkerPool, sandbox: Sandbox, *, tiny_task: Task, usual_s: float
) -> None:
    if fault == "full disk" and sandbox.containment is not Containment.BUBBLEWRAP:
        pytest.skip("only bubblewrap gives a submission a /tmp of its own")
    submission, verdicts, word = FAULTS[fault]
    found = judged(run_one(pool, make(fault, tiny_task, submission=submission)))
    assert found.verdict in verdicts, found
    assert word in found.reason
    after = run_one(pool, make(f"after {fault}", tiny_task, submission=HONEST))
    assert judged(after).verdict in PASSED
    assert after.times[-1].ran_s < 4 * usual_s + 20


@pytest.mark.parametrize("victim", ["workers.child", "judge.reference"])
def test_a_killed_process_costs_time_and_nothing_else(victim: str, pool: WorkerPool, tiny_task: Task) -> None:
    warm = run_one(pool, make(f"before {victim}", tiny_task, submission=HONEST))
    assert judged(warm).verdict in PASSED
    submission, verdicts, _ = FAULTS["infinite host loop"]  # one that is surely not done yet
    with ThreadPoolExecutor(1) as thread:
        future = thread.submit(run_one, pool, make(victim, tiny_task, submission=submission))
        time.sleep(8.0)
        victims = find_victims(f"cuda_agent.{victim}")
        for pid in victims:
            os.kill(pid, signal.SIGKILL)
        outcome = future.result(600)
    assert victims
    if victim == "workers.child":
        assert judged(outcome).verdict in verdicts
        assert max(times.attempts for times in outcome.times) == 2
    else:
        assert outcome.status in (OutcomeStatus.DONE, OutcomeStatus.FAILED)
    after = run_one(pool, make(f"after {victim}", tiny_task, submission=HONEST))
    assert judged(after).verdict in PASSED


def find_victims(program: str) -> list[int]:
    """Our descendants that run a program."""
    found = []
    for pid in find_processes_below(os.getpid()):
        words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
        if program.encode() in words and words[0] == sys.executable.encode():
            found.append(pid)
    return found

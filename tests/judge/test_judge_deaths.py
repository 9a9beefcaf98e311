"""Children that die, and a judge that is killed: who is at fault, and what is left."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import pytest

from cuda_agent.errors import InfrastructureError
from cuda_agent.judge.census import find_processes_below
from cuda_agent.judge.judge import Judge
from cuda_agent.judge.process import ChildProcess
from cuda_agent.judge.protocol import Request
from cuda_agent.judge.result import VerifyStatus
from cuda_agent.scratch import sweep_scratch
from cuda_agent.tasks.task import Task
from tests.judge.conftest import Maker


def kill_when_asked_to(request: str, monkeypatch: pytest.MonkeyPatch, *, times: int) -> list[str]:
    """Let somebody on the machine end a runner, `times` times, just before it is asked for something."""
    killed: list[str] = []
    send = ChildProcess.send

    def kill_first(child: ChildProcess, message: Request, *, fds: Sequence[int] = ()) -> None:
        if message.kind == request and len(killed) < times:
            killed.append(message.kind)
            top = child._process.running.pid
            deadline = time.monotonic() + 10
            # The sandbox's first process alone may die before it has bound its child to itself.
            while len(find_processes_below(top)) < 2 and time.monotonic() < deadline:
                time.sleep(0.01)
            for pid in find_processes_below(top):
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        send(child, message, fds=fds)

    monkeypatch.setattr(ChildProcess, "send", kill_first)
    return killed


@pytest.mark.parametrize("request_kind", ["prepare", pytest.param("load", marks=pytest.mark.slow)])
def test_a_runner_that_is_killed_before_it_has_loaded_is_no_fault_of_the_submission(
    request_kind: str, judge: Judge, make: Maker, monkeypatch: pytest.MonkeyPatch
) -> None:
    artifact = make()
    judge.check_task()
    taken = judge._stock.take_runner()  # the next one is started, and killed at once
    killed = kill_when_asked_to(request_kind, monkeypatch, times=1)
    verified, _ = judge.examine(artifact, profile=False)
    taken.close()
    assert killed == [request_kind]
    assert verified.status is VerifyStatus.OK, verified
    after, _ = judge.examine(artifact, profile=False)
    assert after.status is VerifyStatus.OK


def test_runners_that_always_die_before_they_are_ready_are_this_machines_fault(
    judge: Judge, make: Maker, monkeypatch: pytest.MonkeyPatch
) -> None:
    artifact = make()
    judge.check_task()
    taken = judge._stock.take_runner()
    killed = kill_when_asked_to("prepare", monkeypatch, times=99)
    with pytest.raises(InfrastructureError, match="did not start"):
        judge.examine(artifact, profile=False)
    taken.close()
    assert len(killed) >= 2


def test_a_submission_that_ends_its_process_while_it_is_loaded_is_tried_twice_and_blamed(
    judge: Judge, make: Maker, monkeypatch: pytest.MonkeyPatch
) -> None:
    loads = []
    send = ChildProcess.send

    def count(child: ChildProcess, message: Request, *, fds: Sequence[int] = ()) -> None:
        loads.append(message.kind)
        send(child, message, fds=fds)

    monkeypatch.setattr(ChildProcess, "send", count)
    ending = make(model=("import kernels", "import os\nos.kill(os.getpid(), 9)\nimport kernels"))
    verified, _ = judge.examine(ending, profile=False)
    assert verified.status is VerifyStatus.CRASHED
    assert loads.count("load") == 2


JUDGING = """
import sys
from pathlib import Path
from cuda_agent.judge import verify
from cuda_agent.judge.judge import Artifact, Judge
from cuda_agent.judge.policy import load_policy
from cuda_agent.sandbox.build import build_sandbox
from cuda_agent.scratch import keep_scratch
from cuda_agent.tasks.kernelbench import load_task
from cuda_agent.tasks.target import Target
task = load_task(Path(sys.argv[1]))
artifact = Artifact(folder=Path(sys.argv[2]), kernels=Path(sys.argv[3]))
compare = verify.compare_output
def tell(*given, **more):
    print("judging", flush=True)
    return compare(*given, **more)
verify.compare_output = tell
with keep_scratch():
    judge = Judge(task, target=Target.CPU, sandbox=build_sandbox(), policy=load_policy("strict"))
    while True:
        judge.examine(artifact, profile=False)
"""


@pytest.mark.slow
def test_a_judge_that_is_killed_leaves_neither_a_process_nor_a_mailbox(
    make: Maker, tiny_task: Task, tmp_path: Path
) -> None:
    artifact = make()
    task = tmp_path / "task.py"
    task.write_text(tiny_task.source)
    shared, scratch = set(os.listdir("/dev/shm")), tmp_path / "scratch"
    scratch.mkdir()
    words = [
        sys.executable,
        "-c",
        JUDGING,
        *map(str, (tmp_path / "task.py", artifact.folder, artifact.kernels)),
    ]
    env = {**os.environ, "TMPDIR": str(scratch)}
    judging = subprocess.Popen(words, stdout=subprocess.PIPE, env=env)
    assert judging.stdout is not None
    assert judging.stdout.readline() == b"judging\n"
    started = find_processes_below(judging.pid).keys() - {judging.pid}
    assert len(started) > 2
    judging.kill()
    judging.wait()
    deadline = time.monotonic() + 30
    while any(Path(f"/proc/{pid}").exists() for pid in started) and time.monotonic() < deadline:
        time.sleep(0.05)
    # A mailbox is a memory file without a name: it is gone with the last process that holds it.
    assert not [pid for pid in started if Path(f"/proc/{pid}").exists()]
    assert set(os.listdir("/dev/shm")) <= shared
    sweep_scratch(scratch)
    assert not list(scratch.iterdir())

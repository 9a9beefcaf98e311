"""A server that is killed in the middle of its work goes on with it, and its clients wait."""

import functools
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from pathlib import Path

import pytest

from cuda_agent.environment.evaluator import make_item
from cuda_agent.environment.orders import OUTCOMES
from cuda_agent.environment.remote_pool import RemotePool
from cuda_agent.environment.submission import Submission
from cuda_agent.judge.census import find_processes_below
from cuda_agent.rundir import read_records
from cuda_agent.tasks.target import Target
from cuda_agent.tasks.task import Task
from cuda_agent.workers.item import Outcome, OutcomeStatus, WorkItem

pytestmark = pytest.mark.slow
COMMAND = [sys.executable, "-m", "cuda_agent.cli.main", "serve", "--target", "cpu", "--host-workers", "1"]


@functools.cache
def choose_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def start(where: str, run: Path, *, scratch: Path) -> "subprocess.Popen[bytes]":
    env = {**os.environ, "TMPDIR": str(scratch), "XDG_CACHE_HOME": str(run.parent / "cache")}
    return subprocess.Popen([*COMMAND, "--port", str(choose_port()), where, str(run)], env=env)


def make(name: str, task: Task) -> WorkItem:
    """A submission that breaks the rules: quickly done, and yet by a worker."""
    submission = Submission({"model_new.py": f"import os  # {name}\n".encode()})
    return make_item(name, task, submission=submission, target=Target.CPU)


def test_a_killed_server_goes_on_and_loses_nothing(tmp_path: Path, tiny_task: Task) -> None:
    run, scratch, url = tmp_path / "run", tmp_path / "scratch", f"http://127.0.0.1:{choose_port()}"
    scratch.mkdir()
    outcomes: list[Outcome] = []
    items = [make(str(number), tiny_task) for number in range(12)]
    client = threading.Thread(target=lambda: outcomes.extend(RemotePool(url, run_id="r").run(items)))
    with start("--out", run, scratch=scratch) as server:
        client.start()
        deadline_s = time.monotonic() + 120
        while not (run / OUTCOMES).exists() and time.monotonic() < deadline_s:
            time.sleep(0.02)
        started = find_processes_below(server.pid).keys()
        server.kill()
    done = [outcome.item_id for outcome in read_records(run / OUTCOMES, Outcome)]
    assert 0 < len(done) < len(items)
    assert list(scratch.iterdir())
    with start("--resume", run, scratch=scratch) as server:
        client.join(180)
        assert not client.is_alive()
        with urllib.request.urlopen(f"{url}/health", timeout=10) as reply:
            assert reply.status == 200
        server.send_signal(signal.SIGINT)
        assert server.wait(60) in (0, 130)
    assert [outcome.item_id for outcome in outcomes] == [item.item_id for item in items]
    assert {outcome.status for outcome in outcomes} == {OutcomeStatus.DONE}
    written = [outcome.item_id for outcome in read_records(run / OUTCOMES, Outcome)]
    assert written[: len(done)] == done
    assert len(set(written)) == len(written) == len(items)
    assert not list(scratch.iterdir())
    assert not [pid for pid in started if Path(f"/proc/{pid}").exists()]

"""A local worker answers, fails, dies and is killed; it leaves nothing behind."""

import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from cuda_agent.workers.local import LocalWorker
from cuda_agent.workers.worker import WorkerDiedError, WorkerFailedError, WorkerSilentError

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def worker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[LocalWorker]:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    env = {"PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'src'}"}
    worker = LocalWorker("tests.workers.served:Toy", name="toy", env=env)
    yield worker
    worker.close()
    assert not Path(f"/proc/{worker.pid}").exists()
    assert not list(tmp_path.iterdir())


def test_it_answers_again_and_again(worker: LocalWorker) -> None:
    for text in ("a", "ü\n", "x" * 1_000_000):
        assert worker.call("work", {"say": text}, limit_s=30).value["echo"] == text


def test_an_error_is_told_and_survived(worker: LocalWorker) -> None:
    with pytest.raises(WorkerFailedError, match="ValueError: it does not work"):
        worker.call("work", {"do": "fail"}, limit_s=30)
    with pytest.raises(WorkerFailedError, match="AttributeError"):
        worker.call("nothing", {}, limit_s=30)
    assert worker.call("work", {"say": "well"}, limit_s=30).value["echo"] == "well"


def test_a_death_is_told_with_its_cause(worker: LocalWorker) -> None:
    with pytest.raises(WorkerDiedError, match="SIGSEGV"):
        worker.call("work", {"do": "segfault"}, limit_s=30)
    with pytest.raises(WorkerDiedError, match="ended"):
        worker.call("work", {}, limit_s=30)


def test_silence_has_a_limit(worker: LocalWorker) -> None:
    worker.call("work", {}, limit_s=30)
    start = time.monotonic()
    with pytest.raises(WorkerSilentError, match=r"0\.5 s"):
        worker.call("work", {"do": "hang"}, limit_s=0.5)
    assert time.monotonic() - start < 5


def test_it_runs_our_own_interpreter(worker: LocalWorker) -> None:
    worker.call("work", {}, limit_s=30)
    assert os.readlink(f"/proc/{worker.pid}/exe") == os.path.realpath(sys.executable)
    assert Path(f"/proc/{worker.pid}/cmdline").read_bytes().split(b"\0")[0] == sys.executable.encode()

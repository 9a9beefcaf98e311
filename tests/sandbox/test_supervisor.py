"""The supervisor kills every descendant when its pipe closes, and passes a status on."""

import marshal
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from cuda_agent.sandbox import supervisor
from tests.deep_folders import make_deep, make_shut


def start(script: str, folder: Path) -> tuple[subprocess.Popen[bytes], int]:
    theirs, lifeline = os.pipe()
    argv = [sys.executable, "-I", "-S", supervisor.__file__, str(theirs)]
    process = subprocess.Popen(argv, pass_fds=[theirs], env={}, stderr=subprocess.PIPE)
    os.close(theirs)
    (folder / "home").mkdir()
    order = {
        "argv": ["sh", "-c", script],
        "cwd": str(folder),
        "home": str(folder / "home"),
        "env": {"PATH": "/usr/bin:/bin"},
        "identity": None,
        "pass_fds": [],
        "rlimits": {"fsize": 1000},
    }
    os.write(lifeline, marshal.dumps(order))
    return process, lifeline


def wait_for(path: Path) -> None:
    end_s = time.monotonic() + 20
    while not path.exists() and time.monotonic() < end_s:
        time.sleep(0.01)


@pytest.mark.parametrize(("script", "status"), [("exit 0", 0), ("exit 9", 9), ("kill -TERM $$", 143)])
def test_the_status_is_passed_on(script: str, status: int, tmp_path: Path) -> None:
    process, lifeline = start(script, tmp_path)
    assert process.wait(20) == status
    os.close(lifeline)


def test_limits_hold(tmp_path: Path) -> None:
    process, lifeline = start("head -c 5000 /dev/zero > big", tmp_path)
    assert process.wait(20) != 0
    assert (tmp_path / "big").stat().st_size == 1000
    os.close(lifeline)


def test_orphans_in_other_sessions_die_when_the_pipe_closes(tmp_path: Path) -> None:
    orphan = "setsid sh -c '(echo $$ > pid; sleep 60) &'"
    process, lifeline = start(f"{orphan}; touch ready; sleep 60", tmp_path)
    wait_for(tmp_path / "ready")
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    adopted = [int(pid) for pid in children.read_text().split()]
    assert len(adopted) == 2
    os.close(lifeline)
    assert process.wait(20) == 128 + 9
    assert not any(Path("/proc", str(pid)).exists() for pid in adopted)
    assert not (tmp_path / "home").exists()


def test_a_home_that_is_deep_and_shut_goes_with_whoever_is_gone(tmp_path: Path) -> None:
    process, lifeline = start("touch ready; sleep 60", tmp_path)
    wait_for(tmp_path / "ready")
    make_deep(tmp_path / "home", 1200)
    make_shut(tmp_path / "home" / "shut")
    os.close(lifeline)
    assert process.wait(20) == 128 + signal.SIGKILL
    assert not (tmp_path / "home").exists()

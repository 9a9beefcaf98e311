"""What runs beside a command is held still, and goes on afterwards."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from cuda_agent.environment.pause import find_company, paused_company

COUNT = "import itertools, sys\nfor i in itertools.count():\n open(sys.argv[1], 'w').write(str(i))"


@pytest.fixture
def pair(tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A shell in a session of its own, with a busy child beside it."""
    command = ["/bin/sh", "-c", '"$1" -c "$2" "$3" & wait', "sh", sys.executable, COUNT, str(tmp_path / "count")]
    with subprocess.Popen(command, start_new_session=True) as shell:
        while not (tmp_path / "count").exists():
            time.sleep(0.01)
        yield shell
        os.killpg(shell.pid, 9)


def read_state(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]


def test_company_is_the_whole_session(pair: subprocess.Popen[bytes]) -> None:
    company = find_company(pair.pid)
    assert pair.pid in company
    assert len(company) == 2
    assert os.getpid() not in company


def test_stops_and_goes_on(pair: subprocess.Popen[bytes], tmp_path: Path) -> None:
    with paused_company(pair.pid) as stopped:
        assert len(stopped) == 2
        time.sleep(0.05)
        assert {read_state(pid) for pid in stopped} == {"T"}
        before = (tmp_path / "count").read_text()
        time.sleep(0.1)
        assert (tmp_path / "count").read_text() == before
    deadline = time.monotonic() + 5
    while (tmp_path / "count").read_text() in (before, "") and time.monotonic() < deadline:
        time.sleep(0.01)
    assert (tmp_path / "count").read_text() != before


@pytest.mark.parametrize("pid", [0, -1, 2**22 + 1])
def test_nobody_is_stopped_for_an_unknown_process(pid: int) -> None:
    assert find_company(pid) == ()


def test_our_own_session_is_never_stopped() -> None:
    assert find_company(os.getpid()) == ()

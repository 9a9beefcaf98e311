"""What runs beside a command is held still, and goes on afterwards."""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from cuda_agent.environment.channel import Answer, Channel
from cuda_agent.environment.client import CHANNEL_VARIABLE
from cuda_agent.environment.pause import Company, find_children, find_company, paused_company
from cuda_agent.sandbox.build import build_sandbox
from cuda_agent.sandbox.protocol import Command, Containment, Mount, Running, Sandbox

COUNT = "import sys, time\nwhile True:\n open(sys.argv[1], 'a').write('x')\n time.sleep(0.002)"


@pytest.fixture
def pair(tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A shell in a session of its own, with a busy child beside it."""
    command = [
        "/bin/sh",
        "-c",
        '"$1" -c "$2" "$3" & wait',
        "sh",
        sys.executable,
        COUNT,
        str(tmp_path / "count"),
    ]
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
    while (tmp_path / "count").read_text() == before and time.monotonic() < deadline:
        time.sleep(0.01)
    assert (tmp_path / "count").read_text() != before


@pytest.mark.parametrize("pid", [0, -1, 2**22 + 1])
def test_nobody_is_stopped_for_an_unknown_process(pid: int) -> None:
    assert find_company(pid) == ()


def test_our_own_session_is_never_stopped() -> None:
    assert find_company(os.getpid()) == ()


def test_in_the_sandbox_a_background_job_stands_still_while_its_command_asks(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    def handle(_verb: str, peer: int) -> Answer:
        with paused_company(peer) as stopped:
            before = (tmp_path / "work" / "count").read_text()
            time.sleep(0.2)
            return Answer(0, f"{len(stopped) > 2} {(tmp_path / 'work' / 'count').read_text() == before}")

    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "count.py").write_text(COUNT)
    script = (
        '"$1" count.py count & while ! [ -s count ]; do sleep 0.05; done; "$1" -m cuda_agent.cli.main build'
    )
    with Channel(tmp_path / "s", handle) as channel:
        ended = sandbox.run(
            Command(
                argv=["/bin/sh", "-c", script, "sh", sys.executable],
                cwd=tmp_path / "work",
                mounts=[Mount(path=tmp_path / "work", writable=True), Mount(path=channel.path)],
                env={CHANNEL_VARIABLE: str(channel.path)},
            )
        )
    assert ended.stdout == "True True\n", ended


def start_counting(sandbox: Sandbox, folder: Path) -> Running:
    command = Command(
        argv=[sys.executable, "-c", COUNT, str(folder / "count")],
        cwd=folder,
        mounts=[Mount(path=folder, writable=True)],
    )
    return sandbox.start(command, folder.parent / "log")


@pytest.mark.parametrize("kind", [Containment.AUTO, Containment.PROCESS])
def test_other_commands_of_the_company_stand_still_and_none_starts(kind: Containment, tmp_path: Path) -> None:
    sandbox = build_sandbox(kind)
    folder = tmp_path / "shared"
    folder.mkdir()
    company = Company()
    with company.start(lambda: start_counting(sandbox, folder)) as counting:
        while not (folder / "count").exists():
            time.sleep(0.01)
        assert find_children(counting.pid)
        begun = threading.Event()
        with company.still(0):
            time.sleep(0.05)
            before = (folder / "count").stat().st_size

            def start() -> Running:
                begun.set()
                return counting

            starting = threading.Thread(target=company.start, args=(start,))
            starting.start()
            time.sleep(0.2)
            assert (folder / "count").stat().st_size == before
            assert not begun.is_set()
        starting.join(10.0)
        assert begun.is_set()
        deadline_s = time.monotonic() + 5.0
        while (folder / "count").stat().st_size == before:
            assert time.monotonic() < deadline_s
            time.sleep(0.01)
    assert find_children(counting.pid) == ()

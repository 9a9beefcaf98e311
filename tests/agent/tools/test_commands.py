"""Commands end when they should, and at the latest when their context is left."""

import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest

from cuda_agent.agent.tools.commands import Commands
from cuda_agent.environment.pause import Company
from cuda_agent.errors import InfrastructureError
from cuda_agent.sandbox.protocol import Command, Mount, Sandbox


def build_command(folder: Path, text: str) -> Command:
    return Command(argv=("bash", "-c", text), cwd=folder, mounts=(Mount(path=folder, writable=True),))


def test_a_look_shows_what_is_new_and_how_it_ended(sandbox: Sandbox, tmp_path: Path) -> None:
    with Commands(sandbox, Company()) as commands:
        job = commands.start(
            build_command(tmp_path, "echo a; until [ -e go ]; do sleep 0.05; done; echo b; exit 4")
        )
        assert not job.wait(0.5)
        look = job.look()
        assert (look.output, look.returncode) == ("a\n", None)
        (tmp_path / "go").touch()
        assert job.wait(10.0)
        look = job.look()
        assert (look.output, look.returncode) == ("b\n", 4)
        assert 0.4 < look.seconds < 10.0
        time.sleep(0.05)
        assert job.look().seconds == look.seconds


def test_waiting_ends_as_soon_as_the_command_does(sandbox: Sandbox, tmp_path: Path) -> None:
    with Commands(sandbox, Company()) as commands:
        start_s = time.monotonic()
        assert commands.start(build_command(tmp_path, "sleep 60 & true")).wait(50.0)
        assert time.monotonic() - start_s < 5.0


def test_the_judges_time_is_not_the_commands(sandbox: Sandbox, tmp_path: Path) -> None:
    """With many episodes at once a command may wait for its judge for longer than it may take itself."""
    company = Company()
    with Commands(sandbox, company) as commands:
        job = commands.start(build_command(tmp_path, "until [ -e go ]; do sleep 0.05; done"))
        wait = partial(job.wait, 0.5, is_judge_free=True)
        with company.judged(), ThreadPoolExecutor(1) as pool:
            waiting = pool.submit(wait)
            time.sleep(1.5)
            assert not waiting.done()
            (tmp_path / "go").touch()
            assert waiting.result()
        assert company.judged_s >= 1.5
        other = commands.start(build_command(tmp_path, "sleep 30"))
        assert not other.wait(0.2, is_judge_free=True)


def test_leaving_ends_every_command_and_lets_none_begin(sandbox: Sandbox, tmp_path: Path) -> None:
    with Commands(sandbox, Company()) as commands:
        commands.start(build_command(tmp_path, "while true; do date +%N > beat; sleep 0.02; done"))
        while not (tmp_path / "beat").exists():
            time.sleep(0.02)
    before = (tmp_path / "beat").read_text()
    time.sleep(0.2)
    assert (tmp_path / "beat").read_text() == before
    with pytest.raises((InfrastructureError, FileNotFoundError)):
        commands.start(build_command(tmp_path, "touch late"))
    time.sleep(0.2)
    assert not (tmp_path / "late").exists()

"""Commands end when they should, and at the latest when their context is left."""

import time
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

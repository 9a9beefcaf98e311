"""What is particular to the process sandbox."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from cuda_agent.sandbox import process as module
from cuda_agent.sandbox.process import ProcessSandbox
from cuda_agent.sandbox.protocol import Command, Containment

MakeCommand = Callable[..., Command]


def test_it_says_what_it_is() -> None:
    assert ProcessSandbox().containment is Containment.PROCESS


def test_no_privilege_is_left(make_command: MakeCommand) -> None:
    status = ProcessSandbox().run(make_command("cat", "/proc/self/status")).stdout
    fields = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
    assert int(fields["CapPrm"], 16) == 0
    assert int(fields["CapEff"], 16) == 0
    assert fields["NoNewPrivs"] == "1"
    assert fields["Groups"].strip() == "" or os.geteuid() != 0


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to become another user")
@pytest.mark.parametrize("reachable", [True, False])
def test_root_becomes_another_user_where_that_user_can_work(
    make_command: MakeCommand, monkeypatch: pytest.MonkeyPatch, *, workspace: Path, reachable: bool
) -> None:
    monkeypatch.setattr(module, "find_python_prefixes", lambda: (Path("/usr"),))
    monkeypatch.setattr(module, "find_package_folder", lambda: Path("/usr"))
    shut = [folder for folder in workspace.parents if not folder.stat().st_mode & 1]
    modes = {folder: folder.stat().st_mode for folder in shut}
    try:
        for folder in shut if reachable else ():
            folder.chmod(0o711)
        workspace.parent.chmod(0o711 if reachable else 0o700)
        uid = int(ProcessSandbox().run(make_command("id", "-u")).stdout)
    finally:
        for folder, mode in modes.items():
            folder.chmod(mode)
    assert (uid > 60_000) == reachable
    assert workspace.stat().st_uid == uid


def test_its_private_home_is_removed(make_command: MakeCommand, tmp_path: Path) -> None:
    with ProcessSandbox().start(make_command("sh", "-c", "echo $HOME; sleep 60"), tmp_path / "log"):
        while not (tmp_path / "log").read_text():
            pass
        home = Path((tmp_path / "log").read_text().strip())
        assert home.is_dir()
    assert not home.exists()

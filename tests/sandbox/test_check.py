"""Commands that no sandbox could run faithfully are refused (test_protocol tries each refusal)."""

from pathlib import Path

import pytest

from cuda_agent.errors import SandboxError
from cuda_agent.sandbox.check import check_command
from cuda_agent.sandbox.protocol import Command, Mount


def test_a_mount_may_lie_below_links_that_are_ours(tmp_path: Path) -> None:
    (tmp_path / "real" / "workspace").mkdir(parents=True)
    (tmp_path / "alias").symlink_to("real")
    folder = tmp_path / "alias" / "workspace"
    check_command(Command(argv=["true"], cwd=folder, mounts=[Mount(path=folder, writable=True)]))


def test_a_mount_may_lie_within_a_writable_mount_below_links_that_are_ours(tmp_path: Path) -> None:
    (tmp_path / "real" / "workspace" / "inner").mkdir(parents=True)
    (tmp_path / "alias").symlink_to("real")
    folder = tmp_path / "alias" / "workspace"
    mounts = [Mount(path=folder, writable=True), Mount(path=folder / "inner")]
    check_command(Command(argv=["true"], cwd=folder, mounts=mounts))


def test_a_mount_that_climbs_out_of_a_writable_mount_is_refused(tmp_path: Path) -> None:
    (tmp_path / "workspace").mkdir()
    (tmp_path / "secret").mkdir()
    outer = tmp_path / "workspace"
    mounts = [Mount(path=outer, writable=True), Mount(path=outer / ".." / "secret")]
    with pytest.raises(SandboxError):
        check_command(Command(argv=["true"], cwd=outer, mounts=mounts))


def test_the_root_folder_is_a_working_folder() -> None:
    check_command(Command(argv=["true"], cwd=Path("/")))

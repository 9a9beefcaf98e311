"""Users are drawn, mounts change owner without following links, and never a file that is not the mount's."""

import os
import secrets
import stat
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from cuda_agent.sandbox.identity import (
    ID_RANGES,
    Identity,
    choose_identity,
    claim_mounts,
    drop_setuid,
    is_us,
)
from cuda_agent.sandbox.protocol import Mount, Sandbox
from cuda_agent.scratch import remove_tree
from cuda_agent.walk import walk_folders
from tests.deep_folders import make_deep
from tests.sandbox.conftest import MakeCommand

AS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to change owners")
SOMEONE = Identity(ID_RANGES[0][7], ID_RANGES[0][0])


@pytest.mark.skipif(os.geteuid() == 0, reason="needs an ordinary user")
def test_an_ordinary_user_has_no_choice(tmp_path: Path) -> None:
    assert choose_identity([Mount(path=tmp_path, writable=True)]) is None


@AS_ROOT
def test_every_command_gets_a_user_of_its_own(tmp_path: Path) -> None:
    identities = [choose_identity([Mount(path=tmp_path, writable=True)]) for _ in range(5)]
    assert len({identity.uid for identity in identities if identity}) > 1
    assert len({identity.gid for identity in identities if identity}) == 1
    assert all(identity and identity.uid != identity.gid and identity.uid > 60_000 for identity in identities)


@AS_ROOT
def test_a_workspace_keeps_its_user(tmp_path: Path) -> None:
    mounts = [Mount(path=tmp_path, writable=True)]
    identity = choose_identity(mounts)
    claim_mounts(mounts, identity)
    assert choose_identity(mounts) == identity


@AS_ROOT
def test_claiming_follows_no_link_and_takes_no_shared_file(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "cache").write_text("shared")
    workspace = tmp_path / "workspace"
    (workspace / "deep").mkdir(parents=True)
    (workspace / "deep" / "file").write_text("own")
    (workspace / "folder_link").symlink_to(outside)
    (workspace / "file_link").symlink_to(outside / "cache")
    os.link(outside / "cache", workspace / "hard_link")
    claim_mounts([Mount(path=workspace, writable=True)], SOMEONE)
    owners = {path.relative_to(tmp_path).as_posix(): path.lstat().st_uid for path in tmp_path.rglob("*")}
    mine = {name for name, uid in owners.items() if uid == SOMEONE.uid}
    assert mine == {"workspace", "workspace/deep", "workspace/deep/file"} | {
        "workspace/folder_link",
        "workspace/file_link",
    }


@AS_ROOT
def test_a_read_only_mount_keeps_its_owner_and_stays_shut_to_others(tmp_path: Path) -> None:
    folder = tmp_path / "private"
    folder.mkdir(mode=0o700)
    claim_mounts([Mount(path=folder)], SOMEONE)
    status = folder.stat()
    assert (status.st_uid, status.st_gid) == (0, SOMEONE.gid)
    assert stat.S_IMODE(status.st_mode) == 0o750


def test_setuid_bits_are_dropped_and_other_bits_kept(tmp_path: Path) -> None:
    program = tmp_path / "deep" / "program"
    program.parent.mkdir()
    program.touch()
    program.chmod(0o6755)
    drop_setuid([Mount(path=tmp_path)])
    assert stat.S_IMODE(program.stat().st_mode) == 0o6755
    drop_setuid([Mount(path=tmp_path, writable=True)])
    assert stat.S_IMODE(program.stat().st_mode) == 0o755


@pytest.mark.parametrize("levels", [1200, 3000])
def test_a_workspace_deeper_than_the_stack_is_looked_through(tmp_path: Path, levels: int) -> None:
    top = tmp_path / "top"
    top.mkdir()
    make_deep(top, levels)
    mounts = [Mount(path=top, writable=True)]
    *_, deepest = walk_folders(top)
    drop_setuid(mounts)
    if os.geteuid() == 0:
        claim_mounts(mounts, SOMEONE)
        owners = [os.fstat(visit.fd).st_uid for visit in walk_folders(top)]
        assert owners == [SOMEONE.uid] * (levels + 1)
    assert deepest.names == ["file"]
    remove_tree(top)


def test_setuid_bits_are_dropped_in_the_deepest_folder(tmp_path: Path) -> None:
    top = tmp_path / "top"
    top.mkdir()
    make_deep(top, 1200)
    for visit in walk_folders(top):
        for name in visit.names:
            os.chmod(name, 0o6755, dir_fd=visit.fd)
    drop_setuid([Mount(path=top, writable=True)])
    modes = [os.stat(name, dir_fd=visit.fd).st_mode for visit in walk_folders(top) for name in visit.names]
    assert [stat.S_IMODE(mode) for mode in modes] == [0o755]
    remove_tree(top)


def test_who_is_us() -> None:
    assert is_us(None)
    assert is_us(Identity(os.geteuid(), 0))
    assert not is_us(SOMEONE)


@AS_ROOT
def test_commands_that_start_at_once_on_a_fresh_mount_share_its_user(
    each_sandbox: Sandbox, make_command: MakeCommand, monkeypatch: pytest.MonkeyPatch
) -> None:
    draw = secrets.randbelow

    def draw_slowly(below: int) -> int:
        time.sleep(0.3)
        return draw(below)

    monkeypatch.setattr(secrets, "randbelow", draw_slowly)
    command = make_command("/bin/sh", "-c", "id -u; : > file; rm -f file")
    with ThreadPoolExecutor(3) as pool:
        ends = list(pool.map(lambda _: each_sandbox.run(command), range(3)))
    assert [end.stderr for end in ends] == [""] * 3
    assert len({end.stdout for end in ends}) == 1

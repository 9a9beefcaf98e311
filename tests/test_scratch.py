"""Temporary files go with their owner, however it ends, and never with anybody else."""

import os
import re
import stat
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import pytest

from cuda_agent.scratch import (
    PREFIX,
    Scratch,
    keep_scratch,
    remove_tree,
    sweep_scratch,
    temporary_folder,
)
from tests.deep_folders import make_deep, make_shut

OWNER = """
import sys, tempfile, time
from cuda_agent.scratch import keep_scratch
with keep_scratch() as folder:
    tempfile.mkdtemp()
    print(folder, flush=True)
    time.sleep(600)
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_everything_temporary_lies_in_it_and_is_gone(place: Path) -> None:
    with keep_scratch() as folder:
        assert Path(tempfile.mkdtemp()).parent == folder
        assert folder.stat().st_mode & 0o777 == 0o711
        with keep_scratch() as inner:
            assert inner.parent == folder
        assert tempfile.gettempdir() == str(folder)
    assert not list(place.iterdir())
    assert tempfile.gettempdir() == str(place)


def test_the_next_start_sweeps_what_a_killed_owner_left_and_nothing_else(place: Path) -> None:
    env = {**os.environ, "TMPDIR": str(place), "PYTHONPATH": str(Path(__file__).parents[1] / "src")}
    owners = [
        subprocess.Popen([sys.executable, "-c", OWNER], stdout=subprocess.PIPE, env=env, text=True)
        for _ in range(2)
    ]
    folders = [Path(owner.stdout.readline().strip()) for owner in owners if owner.stdout]
    (place / "other").mkdir()
    (place / f"{PREFIX}link").symlink_to(place / "other")
    owners[0].kill()
    owners[0].wait()
    assert folders[0].exists()
    with keep_scratch():
        assert not folders[0].exists()
        assert list(folders[1].iterdir())
    owners[1].kill()
    owners[1].wait()
    sweep_scratch(place)
    assert {path.name for path in place.iterdir()} == {"other", f"{PREFIX}link"}


def test_many_that_start_at_once_keep_theirs(place: Path) -> None:
    opened: list[Scratch] = []

    def open_some() -> None:
        opened.extend(Scratch.open() for _ in range(20))

    threads = [threading.Thread(target=open_some) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(opened) == 80
    assert all(scratch.path.is_dir() for scratch in opened)
    for scratch in opened:
        scratch.close()
        scratch.close()
    assert not list(place.iterdir())


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_another_users_folder_stays(place: Path) -> None:
    theirs = place / f"{PREFIX}theirs"
    theirs.mkdir()
    os.chown(theirs, 12345, 12345)
    sweep_scratch(place)
    assert theirs.exists()


@pytest.mark.parametrize("levels", [950, 3000])
def test_a_folder_deeper_than_the_stack_is_removed(tmp_path: Path, levels: int) -> None:
    top = tmp_path / "top"
    top.mkdir()
    subprocess.run(
        [sys.executable, "-c", f"import os\nfor _ in range({levels}):\n os.mkdir('a')\n os.chdir('a')"],
        cwd=top,
        check=True,
    )
    remove_tree(top)
    assert not top.exists()
    remove_tree(top)


def test_folders_that_are_shut_are_removed(tmp_path: Path) -> None:
    make_shut(tmp_path / "top")
    remove_tree(tmp_path / "top")
    assert not (tmp_path / "top").exists()


def test_a_hundred_thousand_files_are_removed(tmp_path: Path) -> None:
    with temporary_folder("many-") as folder:
        for number in range(100):
            (folder / str(number)).mkdir()
            for name in range(1000):
                os.close(os.open(f"{folder}/{number}/{name}", os.O_CREAT))
    assert not folder.exists()


def test_a_link_out_of_the_folder_is_removed_and_not_followed(tmp_path: Path) -> None:
    secret, top = tmp_path / "secret", tmp_path / "top"
    secret.mkdir(mode=0o500)
    make_shut(top)
    make_deep(top, 1200)
    (top / "link").symlink_to(secret)
    remove_tree(top)
    assert not top.exists()
    assert stat.S_IMODE(secret.stat().st_mode) == 0o500


# Rooms in which submissions, tasks and models leave files, and what lies in their own folders alone.
ROOMS = ("judge", "sandbox", "environment", "agent", "workers", "synthesis", "bench", "expert")
OWN = {
    "environment/doctor.py",
    "environment/skills.py",
    "sandbox/build.py",
    "sandbox/selftest.py",
}


def test_what_others_leave_is_removed_and_walked_through_in_one_way() -> None:
    package = Path(__file__).resolve().parents[1] / "src" / "cuda_agent"
    found = {
        path.relative_to(package).as_posix()
        for room in ROOMS
        for path in (package / room).rglob("*.py")
        if re.search(r"\b(rmtree|TemporaryDirectory|fwalk)\(", path.read_text(encoding="utf-8"))
    }
    assert found == OWN

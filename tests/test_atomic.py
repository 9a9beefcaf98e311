"""What is written aside is there whole or not at all, whatever happens meanwhile."""

import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from cuda_agent.atomic import write_aside, write_whole
from tests.full_disk import full_disk


def lay_folder(place: Path, text: str) -> None:
    (place / "inner").mkdir(parents=True)
    (place / "inner" / "note.txt").write_text(text)


def die_while(write: Callable[[], None]) -> None:
    """Let a process of its own begin to write, which must be killed in the middle of it."""
    child = os.fork()
    if child == 0:
        write()
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL


@pytest.mark.parametrize("is_forced", [False, True])
def test_a_file_takes_the_place_of_another(tmp_path: Path, *, is_forced: bool) -> None:
    write_whole(tmp_path / "note.txt", "früher", is_forced=is_forced)
    assert (tmp_path / "note.txt").read_bytes() == "früher".encode()
    write_whole(tmp_path / "note.txt", b"\x00later\r\n", is_forced=is_forced)
    assert (tmp_path / "note.txt").read_bytes() == b"\x00later\r\n"
    assert os.listdir(tmp_path) == ["note.txt"]


@pytest.mark.parametrize("is_forced", [False, True])
def test_a_kill_in_the_middle_leaves_the_old_file_whole(tmp_path: Path, *, is_forced: bool) -> None:
    path = tmp_path / "note.txt"
    write_whole(path, "old")

    def write_half() -> None:
        with write_aside(path, is_forced=is_forced) as aside:
            aside.write_text("ne")
            os.kill(os.getpid(), signal.SIGKILL)

    die_while(write_half)
    assert path.read_text() == "old"
    (half,) = tmp_path.glob(".note.txt.*")
    assert half.read_text() == "ne"
    write_whole(path, "new")
    assert path.read_text() == "new"


def test_a_kill_before_the_first_file_is_whole_leaves_none(tmp_path: Path) -> None:
    def write_half() -> None:
        with write_aside(tmp_path / "made") as aside:
            lay_folder(aside, "half")
            os.kill(os.getpid(), signal.SIGKILL)

    die_while(write_half)
    assert not (tmp_path / "made").exists()
    with write_aside(tmp_path / "made") as aside:
        lay_folder(aside, "whole")
    assert (tmp_path / "made" / "inner" / "note.txt").read_text() == "whole"


def test_what_is_raised_meanwhile_leaves_nothing_beside(tmp_path: Path) -> None:
    write_whole(tmp_path / "note.txt", "old")

    def be_interrupted(path: Path, write: Callable[[Path], object]) -> None:
        with write_aside(path) as aside:
            write(aside)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        be_interrupted(tmp_path / "note.txt", lambda aside: aside.write_text("ne"))
    with pytest.raises(KeyboardInterrupt):
        be_interrupted(tmp_path / "made", lambda aside: lay_folder(aside, "half"))
    assert os.listdir(tmp_path) == ["note.txt"]
    assert (tmp_path / "note.txt").read_text() == "old"


def test_a_full_disk_leaves_the_old_file_whole(tmp_path: Path) -> None:
    write_whole(tmp_path / "note.txt", "old")
    with full_disk(4), pytest.raises(OSError, match="too large"):
        write_whole(tmp_path / "note.txt", "x" * 100)
    assert os.listdir(tmp_path) == ["note.txt"]
    assert (tmp_path / "note.txt").read_text() == "old"


@pytest.mark.parametrize("is_forced", [False, True])
def test_a_folder_takes_the_place_of_an_empty_one_alone(tmp_path: Path, *, is_forced: bool) -> None:
    (tmp_path / "made").mkdir()
    with write_aside(tmp_path / "made", is_forced=is_forced) as aside:
        lay_folder(aside, "first")
    with pytest.raises(OSError, match="not empty"), write_aside(tmp_path / "made") as aside:
        lay_folder(aside, "second")
    assert os.listdir(tmp_path) == ["made"]
    assert (tmp_path / "made" / "inner" / "note.txt").read_text() == "first"

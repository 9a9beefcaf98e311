"""Nothing outside the folder can be reached, however links are planted."""

import os
from pathlib import Path

import pytest

from cuda_agent.environment.beneath import (
    NotBeneathError,
    open_folder_beneath,
    read_file_beneath,
    split_beneath,
    write_file_beneath,
)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "root" / "inner").mkdir(parents=True)
    (tmp_path / "root" / "inner" / "file").write_text("inside")
    (tmp_path / "secret").write_text("outside")
    return tmp_path / "root"


@pytest.mark.parametrize("path", ["/etc/passwd", "../secret", "inner/../../secret", "", ".", "a\0b"])
def test_paths_that_leave_are_refused(path: str) -> None:
    with pytest.raises(NotBeneathError):
        split_beneath(path)


def test_plain_paths_are_read_and_written(root: Path) -> None:
    assert read_file_beneath(root, "./inner//file", limit_bytes=10) == b"inside"
    write_file_beneath(root, "new/deep/file", data=b"x")
    assert (root / "new" / "deep" / "file").read_bytes() == b"x"
    write_file_beneath(root, "inner/file", data=b"y")
    assert (root / "inner" / "file").read_bytes() == b"y"


@pytest.mark.parametrize("target", ["../secret", "inner/file"])
def test_a_link_is_neither_read_nor_written(root: Path, target: str) -> None:
    (root / "link").symlink_to(target)
    with pytest.raises(NotBeneathError):
        read_file_beneath(root, "link", limit_bytes=10)
    with pytest.raises(NotBeneathError):
        write_file_beneath(root, "link", data=b"gone")
    assert (root.parent / "secret").read_text() == "outside"


def test_a_linked_folder_is_not_entered(root: Path) -> None:
    (root / "away").symlink_to(root.parent)
    with pytest.raises(NotBeneathError):
        read_file_beneath(root, "away/secret", limit_bytes=10)
    with pytest.raises(NotBeneathError):
        write_file_beneath(root, "away/new", data=b"")
    assert not (root.parent / "new").exists()
    with pytest.raises(NotBeneathError), open_folder_beneath(root, ("away",)):
        pass


def test_a_second_name_of_a_file_elsewhere_is_not_written(root: Path) -> None:
    os.link(root.parent / "secret", root / "twin")
    with pytest.raises(NotBeneathError, match="more than one name"):
        write_file_beneath(root, "twin", data=b"gone")
    assert (root.parent / "secret").read_text() == "outside"


def test_more_than_the_limit_is_an_error(root: Path) -> None:
    assert read_file_beneath(root, "inner/file", limit_bytes=6) == b"inside"
    with pytest.raises(OverflowError):
        read_file_beneath(root, "inner/file", limit_bytes=5)


def test_special_files_are_refused(root: Path) -> None:
    os.mkfifo(root / "pipe")
    with pytest.raises(NotBeneathError):
        read_file_beneath(root, "pipe", limit_bytes=10)
    with pytest.raises(OSError):  # noqa: PT011 the number differs by what the kernel finds first
        write_file_beneath(root, "pipe", data=b"x")


def test_no_descriptor_is_left_open(root: Path) -> None:
    before = len(os.listdir("/proc/self/fd"))
    for path in ("inner/file", "inner/none", "none/none"):
        try:
            read_file_beneath(root, path, limit_bytes=10)
        except OSError:
            continue
    assert len(os.listdir("/proc/self/fd")) == before

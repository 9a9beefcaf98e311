"""Opens files beneath a folder that untrusted commands can write to.

Every component of the path is opened on its own with O_NOFOLLOW, relative to the one before, so that
a link planted by such a command, before or during the opening, never leads outside the folder.
"""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

NO_BLOCKING = os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
LINK_ERRORS = {errno.ELOOP, errno.EMLINK}


class NotBeneathError(OSError):
    """The path leaves the folder, passes through a link, or is not a regular file."""


def split_beneath(path: str) -> tuple[str, ...]:
    """The components of a relative path; `.` and empty ones are dropped.

    Raises:
        NotBeneathError: it is absolute, empty, holds `..` or a NUL byte.
    """
    parts = tuple(part for part in PurePosixPath(path).parts if part != ".")
    if not parts or path.startswith("/") or ".." in parts or "\0" in path:
        raise NotBeneathError(f"{path!r} does not lie beneath the folder")
    return parts


@contextmanager
def open_folder_beneath(root: Path, parts: tuple[str, ...], *, create: bool = False) -> Iterator[int]:
    """A descriptor of the folder `root/parts[0]/...`; `create` makes missing ones.

    Raises:
        NotBeneathError: a component is a link.
        OSError: a component is missing or no folder.
    """
    # The root's own path is the trusted side's and may hold links.
    folder = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for part in parts:
            if create:
                _make_folder(part, folder)
            below = _open_component(part, folder, flags=FOLDER)
            os.close(folder)
            folder = below
        yield folder
    finally:
        os.close(folder)


def _make_folder(name: str, parent: int) -> None:
    try:
        os.mkdir(name, dir_fd=parent)
    except FileExistsError:
        return
    _give_to_owner_of(parent, name)


def _give_to_owner_of(parent: int, name: str) -> None:
    """When we are root, hand a new entry to the folder's owner, who works in the sandbox."""
    if os.geteuid() == 0:
        owner = os.fstat(parent)
        os.chown(name, owner.st_uid, owner.st_gid, dir_fd=parent, follow_symlinks=False)


def _open_component(name: str, folder: int, *, flags: int) -> int:
    try:
        return os.open(name, flags, dir_fd=folder)
    except OSError as error:
        if error.errno in LINK_ERRORS or _is_link(name, folder):
            raise NotBeneathError(f"{name!r} is a link") from error
        raise


def _is_link(name: str, folder: int) -> bool:
    try:
        return stat.S_ISLNK(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)
    except OSError:
        return False


def read_file_beneath(root: Path, path: str, *, limit_bytes: int) -> bytes:
    """The bytes of a regular file beneath `root`, never more than `limit_bytes` of them read.

    Raises:
        NotBeneathError: a link or not a regular file, or the path leaves the folder.
        OverflowError: the file is larger than `limit_bytes`.
        OSError: it cannot be read.
    """
    *folders, name = split_beneath(path)
    with open_folder_beneath(root, tuple(folders)) as folder:
        return read_file_in(folder, name, limit_bytes=limit_bytes)


def read_file_in(folder: int, name: str, *, limit_bytes: int) -> bytes:
    """Like `read_file_beneath`, for a name in an opened folder."""
    descriptor = _open_component(name, folder, flags=os.O_RDONLY | NO_BLOCKING)
    with os.fdopen(descriptor, "rb") as stream:
        _check_regular(descriptor, name)
        size = os.fstat(descriptor).st_size
        if size > limit_bytes:
            raise OverflowError(f"{name!r} has {size:,} bytes, more than the allowed {limit_bytes:,}")
        data = stream.read(limit_bytes + 1)
    if len(data) > limit_bytes:
        raise OverflowError(f"{name!r} has more than the allowed {limit_bytes:,} bytes")
    return data


def write_file_beneath(root: Path, path: str, *, data: bytes) -> None:
    """Replace or create a regular file beneath `root`, making missing folders.

    Raises:
        NotBeneathError: a link or not a regular file, or the path leaves the folder.
        OSError: it cannot be written.
    """
    *folders, name = split_beneath(path)
    with open_folder_beneath(root, tuple(folders), create=True) as folder:
        descriptor = _open_component(name, folder, flags=os.O_WRONLY | os.O_CREAT | NO_BLOCKING)
        with os.fdopen(descriptor, "wb") as stream:
            _check_regular(descriptor, name)
            # A second name of a file elsewhere would carry the write out of the folder.
            if os.fstat(descriptor).st_nlink > 1:
                raise NotBeneathError(f"{name!r} has more than one name")
            os.ftruncate(descriptor, 0)
            stream.write(data)
        _give_to_owner_of(folder, name)


def _check_regular(descriptor: int, name: str) -> None:
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        raise NotBeneathError(f"{name!r} is not a regular file")

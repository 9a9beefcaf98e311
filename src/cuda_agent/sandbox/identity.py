"""Who an untrusted command is.

When we are root, a command runs as a user of its own: without capabilities, unable to signal, trace or
read what belongs to root or to another command, and with its own count of processes. The user is drawn
at random for a command without writable mounts; a writable mount keeps the user it was first given to,
so that one workspace's commands share their files. Writable mounts are handed over by changing the
owner of what is in them; root can read and delete everything afterwards. When we are an ordinary user,
the command keeps our user (bubblewrap adds a user namespace around it).
"""

import os
import secrets
import stat
import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from cuda_agent.sandbox.protocol import Mount
from cuda_agent.walk import walk_folders

ID_RANGES = (range(0x7000_0000, 0x7100_0000), range(60_578, 61_184))
"""Ids that no distribution assigns; the second for containers that map only 16 bits. The first id of a
range is the group of every command, the others are users."""

CLAIMING = threading.Lock()
"""Held from choosing an identity until its mounts are claimed: of two commands that start at once on a
fresh mount, the second must see whom the first has given it to."""


@dataclass(frozen=True)
class Identity:
    """A user and a group by number. User 0 means: stay root, but without any capability."""

    uid: int
    """User."""
    gid: int
    """Group."""


def choose_identity(mounts: Sequence[Mount]) -> Identity | None:
    """The identity of a command with these mounts; None when we are not root and cannot choose."""
    if os.geteuid() != 0:
        return None
    ids = next((ids for ids in ID_RANGES if _is_mapped(ids)), None)
    if ids is None:
        return Identity(0, 0)
    owners = (mount.path.lstat().st_uid for mount in mounts if mount.writable)
    known = next((uid for uid in owners if uid in ids), None)
    return Identity(ids[1 + secrets.randbelow(len(ids) - 1)] if known is None else known, ids[0])


def is_us(identity: Identity | None) -> bool:
    """Whether a command with this identity makes files that belong to our own user."""
    return identity is None or identity.uid == os.geteuid()


def claim_mounts(mounts: Sequence[Mount], identity: Identity | None) -> None:
    """Make mounts usable by `identity`: writable ones and sockets wholly its own, others readable."""
    if identity is None:
        return
    for mount in mounts:
        if mount.writable or stat.S_ISSOCK(mount.path.lstat().st_mode):
            _claim_tree(mount.path, identity)
        else:
            _open_to_group(mount.path, identity)


def drop_setuid(mounts: Sequence[Mount]) -> None:
    """Clear set-user and set-group bits of our own files that a command has left in writable mounts.

    Needed only when the command had our own user: anyone else who ran such a file would become us.
    """
    for mount in mounts:
        if not (mount.writable and mount.path.is_dir()):
            continue
        for visit in walk_folders(mount.path):
            for name in visit.names:
                with suppress(FileNotFoundError):  # another command may run on the mount
                    _drop_setuid(name, visit.fd)


def _drop_setuid(name: str, folder_fd: int) -> None:
    mode = os.stat(name, dir_fd=folder_fd, follow_symlinks=False).st_mode
    if stat.S_ISREG(mode) and mode & (stat.S_ISUID | stat.S_ISGID):
        os.chmod(name, stat.S_IMODE(mode) & 0o1777, dir_fd=folder_fd)


def _is_mapped(ids: range) -> bool:
    """Whether our user namespace knows all these ids as both users and groups."""
    for name in ("uid_map", "gid_map"):
        spans = [line.split() for line in Path("/proc/self", name).read_text().splitlines()]
        if not any(int(first) <= ids[0] and ids[-1] < int(first) + int(count) for first, _, count in spans):
            return False
    return True


def _claim_tree(path: Path, identity: Identity) -> None:
    """Change owners below `path` without ever following a link: its content may be hostile."""
    _claim(str(path), identity, folder_fd=None)
    if path.is_symlink() or not path.is_dir():
        return
    for visit in walk_folders(path):
        for name in (*visit.folders, *visit.names):
            # A command that already runs on the mount may remove its files meanwhile.
            with suppress(FileNotFoundError):
                _claim(name, identity, folder_fd=visit.fd)


def _claim(name: str, identity: Identity, *, folder_fd: int | None) -> None:
    status = os.stat(name, dir_fd=folder_fd, follow_symlinks=False)
    # A file with a second name may be someone's cache outside of the mount: it stays theirs.
    shared = stat.S_ISREG(status.st_mode) and status.st_nlink > 1
    if not shared and (status.st_uid, status.st_gid) != (identity.uid, identity.gid):
        os.chown(name, identity.uid, identity.gid, dir_fd=folder_fd, follow_symlinks=False)


def _open_to_group(path: Path, identity: Identity) -> None:
    """Let the commands' group read a mount's top that others cannot (what mkdtemp and mkstemp make)."""
    status = path.lstat()
    needed = 0o5 if stat.S_ISDIR(status.st_mode) else 0o4
    ours = status.st_uid == 0 or any(status.st_uid in ids for ids in ID_RANGES)
    if status.st_mode & needed == needed or not ours:
        return
    os.chown(path, -1, identity.gid)
    path.chmod(stat.S_IMODE(status.st_mode) | needed << 3)

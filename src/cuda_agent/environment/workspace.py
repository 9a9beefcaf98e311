"""The folder laid before an agent, and safe access to its files from outside the sandbox.

The agent's shell works in the same folder and may plant links or special files at any moment, so every
access goes through `beneath`. Errors are sentences for the model that asked.
"""

import errno
import os
import stat
from contextlib import suppress
from pathlib import Path

from cuda_agent.environment.beneath import (
    NotBeneathError,
    read_file_beneath,
    split_beneath,
    write_file_beneath,
)
from cuda_agent.environment.skills import EXAMPLES, REFERENCES, SKILL_FILE, lay_skill
from cuda_agent.environment.submission import KERNELS_FOLDER
from cuda_agent.errors import UserError
from cuda_agent.sandbox.protocol import Mount
from cuda_agent.tasks.target import Target
from cuda_agent.tasks.task import Task
from cuda_agent.walk import walk_folders

TASK_FILE = "model.py"
READ_ONLY = (SKILL_FILE, REFERENCES, EXAMPLES, TASK_FILE)

MAX_TEXT_BYTES = 1 << 20
MAX_LISTED = 1000
HIDDEN = ("__pycache__", ".")
"""Starts of names that a listing leaves out."""


class WorkspaceError(UserError):
    """A file cannot be read or written as asked; the message tells the model why."""


class Workspace:
    """An agent's folder."""

    def __init__(self, root: Path) -> None:
        self.root = root
        """Where it is; the same path inside the sandbox."""

    @property
    def mounts(self) -> tuple[Mount, ...]:
        """How a sandbox shows the folder: writable, but for what is read-only."""
        fixed = (self.root / name for name in READ_ONLY)
        # A sandbox without mounts cannot keep the agent from deleting these; the rest still works then.
        kept = (Mount(path=path) for path in fixed if path.exists() and not path.is_symlink())
        return (Mount(path=self.root, writable=True), *kept)

    def read_text(self, path: str) -> str:
        """The text of a file, at most 1 MiB.

        Raises:
            WorkspaceError: it is not there, not text, too large, a link, or outside.
        """
        try:
            data = read_file_beneath(self.root, self._relate(path), limit_bytes=MAX_TEXT_BYTES)
            return data.decode("utf-8")
        except UnicodeDecodeError as error:
            raise WorkspaceError(f"{path} is not a text file: look at it with the shell") from error
        except OverflowError as error:
            raise WorkspaceError(f"{error}: look at parts of it with the shell") from error
        except OSError as error:
            raise WorkspaceError(_explain(path, error)) from error

    def write_text(self, path: str, text: str) -> None:
        """Replace or create a file, making missing folders.

        Raises:
            WorkspaceError: the file is read-only, too large, a link, outside, or there is no room.
        """
        try:
            relative = self._relate(path)
            first = split_beneath(relative)[0]
            if first in READ_ONLY:
                raise WorkspaceError(
                    f"{path} is read-only: write model_new.py and files in {KERNELS_FOLDER}/"
                )
            data = text.encode("utf-8")
            if len(data) > MAX_TEXT_BYTES:
                raise WorkspaceError(
                    f"{path} would have {len(data):,} bytes; a file may have {MAX_TEXT_BYTES:,}"
                )
            write_file_beneath(self.root, relative, data=data)
        except UnicodeEncodeError as error:
            raise WorkspaceError(f"the text for {path} holds characters that UTF-8 cannot hold") from error
        except OSError as error:
            raise WorkspaceError(_explain(path, error)) from error

    def list_files(self) -> tuple[str, ...]:
        """Paths of regular files, sorted, at most 1000; hidden ones and links are left out."""
        found: list[str] = []
        for visit in walk_folders(self.root):
            visit.folders[:] = sorted(name for name in visit.folders if not name.startswith(HIDDEN))
            for name in visit.names:
                if not name.startswith(HIDDEN) and _is_plain(name, visit.fd):
                    found.append(os.path.join(visit.path, name))
            if len(found) >= MAX_LISTED:
                break
        return tuple(sorted(found)[:MAX_LISTED])

    def _relate(self, path: str) -> str:
        """A path relative to the root; models often give the whole path that their shell shows."""
        absolute = f"{self.root}/"
        return path.removeprefix(absolute) if path.startswith(absolute) else path


def _is_plain(name: str, folder: int) -> bool:
    with suppress(OSError):
        return stat.S_ISREG(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)
    return False


def _explain(path: str, error: OSError) -> str:
    if isinstance(error, NotBeneathError):
        return f"{path} cannot be used: {error}; paths are relative to the workspace and pass no links"
    mends = {
        errno.ENOENT: "there is no such file",
        errno.EISDIR: "it is a folder",
        errno.ENOTDIR: "a part of the path is a file, not a folder",
        errno.ENOSPC: "the disk is full",
        errno.ENXIO: "it is not a regular file",
        errno.ENAMETOOLONG: "the name is too long",
    }
    return f"{path} cannot be used: {mends.get(error.errno or 0, error.strerror or str(error))}"


def lay_workspace(task: Task, *, target: Target, root: Path) -> Workspace:
    """Fill an empty folder: the skill, the reference, and room for kernels."""
    root.mkdir(parents=True, exist_ok=True)
    lay_skill(root, target)
    (root / TASK_FILE).write_text(task.source, encoding="utf-8")
    (root / KERNELS_FOLDER).mkdir()
    return Workspace(root)

"""Is a command well-formed and its mounts safe to hand to a sandbox."""

import re
from collections.abc import Sequence
from pathlib import Path

from cuda_agent.errors import SandboxError
from cuda_agent.sandbox.protocol import Command, Mount

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def check_command(command: Command) -> None:
    """Refuse what no sandbox could run faithfully.

    Raises:
        SandboxError: names the offending part and the mend.
    """
    if not command.argv or not command.argv[0] or "=" in command.argv[0]:
        raise SandboxError(f"argv {list(command.argv)!r}: needs a program whose path has no '='")
    texts = (*command.argv, *command.env.values(), *(str(mount.path) for mount in command.mounts))
    if any("\0" in text for text in texts):
        raise SandboxError("an argument, environment value or path holds a NUL: no program could receive it")
    bad = [name for name in command.env if not _NAME.fullmatch(name)]
    if bad:
        raise SandboxError(f"environment name {bad[0]!r}: use letters, digits and underscores")
    for mount in command.mounts:
        _check_mount(mount.path, command.mounts)
    inside = any(command.cwd.is_relative_to(mount.path) for mount in command.mounts)
    if not inside and command.cwd != Path("/"):
        raise SandboxError(f"working folder {command.cwd} lies in no mount: add Mount(path={command.cwd})")


def _check_mount(path: Path, mounts: Sequence[Mount]) -> None:
    if not path.is_absolute():
        raise SandboxError(f"mount {path} is relative: use an absolute path")
    if path.is_symlink():
        raise SandboxError(f"mount {path} is a link: mount what it points to ({path.resolve()})")
    if not path.exists():
        raise SandboxError(f"mount {path} does not exist: make it first")
    # Below a writable mount the command itself may have put a link, to show itself a host folder.
    for outer in mounts:
        if outer.writable and path != outer.path and path.is_relative_to(outer.path):
            inner = path.relative_to(outer.path)
            if outer.path.resolve() / inner != path.resolve():
                raise SandboxError(f"mount {path} passes through a link inside of writable {outer.path}")

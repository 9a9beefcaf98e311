"""Untrusted commands as plain processes: own session, scrubbed environment, limits, and a sure end.

Covered: environment, wall clock, limits on processes (unless it stays root), file size, open files, core
dumps, address space where asked for; no_new_privs; everything it started dies with it, with us (even by
SIGKILL), or when killed. Where we are root it runs as another user (see `identity`) if that user can reach
the interpreter and every mount, and else stays root without capabilities.

Not covered: it sees the host's files and processes as far as its user may, and has the network. As our own
user it can read our files, signal our processes, and kill its supervisor. Use bubblewrap where it works.
"""

import marshal
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from cuda_agent.errors import InfrastructureError
from cuda_agent.sandbox import supervisor
from cuda_agent.sandbox.check import check_command
from cuda_agent.sandbox.collect import collect
from cuda_agent.sandbox.group import Group
from cuda_agent.sandbox.identity import CLAIMING, Identity, choose_identity, claim_mounts, drop_setuid, is_us
from cuda_agent.sandbox.protocol import Command, Completed, Containment, Mount
from cuda_agent.sandbox.rlimits import compute_rlimits
from cuda_agent.sandbox.scrub import build_environment
from cuda_agent.sandbox.spawner import Spawner, Streams
from cuda_agent.sandbox.system import find_package_folder, find_python_prefixes
from cuda_agent.scratch import remove_tree


class ProcessSandbox:
    """Runs commands under a supervisor process."""

    def __init__(self) -> None:
        """A sandbox; nothing is started yet."""
        self._spawner = Spawner()

    @property
    def containment(self) -> Containment:
        """Process."""
        return Containment.PROCESS

    def run(self, command: Command, stdin: bytes = b"") -> Completed:
        """Run to the end or to the wall-clock limit; never raises for what the command does.

        Raises:
            SandboxError: the command is ill-formed or a mount unusable.
        """
        pipe = subprocess.PIPE
        group = self._launch(command, Streams(stdin=pipe, stdout=pipe, stderr=pipe))
        return collect(group, stdin, limits=command.limits)

    def start(self, command: Command, log: Path) -> Group:
        """Start in the background with stdin closed and both output streams in `log`.

        `log` is written anew and grows to `limits.file_bytes` at most; `limits.wall_s` is its owner's task.

        Raises:
            SandboxError: the command is ill-formed or a mount unusable.
        """
        with log.open("wb") as out:
            streams = Streams(stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT)
            return self._launch(command, streams)

    def _launch(self, command: Command, streams: Streams) -> Group:
        check_command(command)
        home = Path(tempfile.mkdtemp(prefix="cuda-agent-home-"))
        with CLAIMING:
            identity = _choose_identity(command, home)
            claim_mounts([*command.mounts, Mount(path=home, writable=True)], identity)
        their_fd, lifeline = os.pipe()
        try:
            process = self._spawner.spawn(
                [sys.executable, "-I", "-S", supervisor.__file__, str(their_fd)],
                env={},
                pass_fds=(*command.pass_fds, their_fd),
                streams=streams,
            )
        except BaseException:
            os.close(lifeline)
            raise
        finally:
            os.close(their_fd)
        left_as_us = command.mounts if is_us(identity) else ()
        group = Group(process, stop=partial(os.close, lifeline), settle=partial(_settle, home, left_as_us))
        try:
            _give_order(lifeline, command, identity=identity, home=home)
        except BaseException:
            group.kill()
            raise
        return group


def _choose_identity(command: Command, home: Path) -> Identity | None:
    identity = choose_identity(command.mounts)
    if identity is None or identity.uid == 0:
        return identity
    needed = [*find_python_prefixes(), find_package_folder(), home, *(mount.path for mount in command.mounts)]
    above = {folder for path in needed for folder in path.resolve().parents}
    if all(folder.stat().st_mode & 1 for folder in above):
        return identity
    return Identity(0, 0)


def _give_order(lifeline: int, command: Command, *, identity: Identity | None, home: Path) -> None:
    """Tell the supervisor what to run. Not by arguments or environment, which other users could read."""
    order = {
        "argv": list(command.argv),
        "cwd": str(command.cwd),
        "home": str(home),
        "env": build_environment(command.env, home=home, gpu=command.gpu),
        "identity": None if identity is None else (identity.uid, identity.gid),
        "pass_fds": list(command.pass_fds),
        "rlimits": compute_rlimits(command.limits),
    }
    try:
        with os.fdopen(os.dup(lifeline), "wb") as stream:
            marshal.dump(order, stream)
    except BrokenPipeError as error:
        raise InfrastructureError("the supervisor ended before it was told what to run") from error


def _settle(home: Path, mounts: Sequence[Mount]) -> None:
    remove_tree(home)
    drop_setuid(mounts)

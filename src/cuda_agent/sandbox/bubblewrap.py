"""Untrusted commands in bubblewrap: fresh namespaces over an allowlisted, read-only system.

Covered:

- Files: the command sees /usr, a few entries of /etc, this interpreter, this package, the CUDA toolkit
  and its mounts. Homes, other workspaces, repositories and the host's /tmp do not exist for it. Only
  writable mounts, /tmp and /dev/shm can be written; the last two are private, bounded in size, and gone
  with the command.
- Processes: a PID namespace of its own, so it can neither see nor signal nor trace anything of ours, and
  all of it dies with its first process, with us (even by SIGKILL), or when killed.
- Network, System V IPC, host name, control groups: fresh and empty; loopback only.
- Privilege: no capabilities, no_new_privs, no controlling terminal. Where we are root it runs as another
  user (see `identity`); where we are not, in a user namespace that cannot make another.
- Environment: built from nothing. Limits: wall clock, processes and threads, file size, open files, core
  dumps, address space where asked for; first to go when the machine runs out of memory.

Not covered:

- Bugs of the kernel or of the GPU driver: there is no system-call filter and no virtual machine.
- The sum of memory over its processes, the sum of what it writes into a writable mount, and processor
  time: give each a budget outside (control groups, a quota, pinned cores).
- Anything reachable through a descriptor or a socket that its owner hands in.
- With `gpu`, whatever the driver lets any user of the device do, exhausting its memory included.
"""

import contextlib
import os
import select
import shutil
import signal
import subprocess
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from cuda_agent.errors import InfrastructureError
from cuda_agent.sandbox.check import check_command
from cuda_agent.sandbox.collect import collect
from cuda_agent.sandbox.group import Group
from cuda_agent.sandbox.identity import CLAIMING, Identity, choose_identity, claim_mounts, drop_setuid, is_us
from cuda_agent.sandbox.protocol import Command, Completed, Containment, Mount
from cuda_agent.sandbox.rlimits import compute_rlimits
from cuda_agent.sandbox.scrub import build_environment
from cuda_agent.sandbox.spawner import Spawner, Streams
from cuda_agent.sandbox.system import find_gpu_devices, find_private_paths, find_system_paths

HOME = Path("/tmp")
"""The private folder that is the command's HOME and TMPDIR."""
TMP_BYTES = 2 << 30
"""Size of the private /tmp."""
SHARED_MEMORY_BYTES = 2 << 30
"""Size of the private /dev/shm."""
SETUP_S = 30.0
"""How long bubblewrap may take to say which process is the first inside."""
OUTER_ENVIRONMENT = {"PATH": "/usr/bin:/bin"}
"""Environment of bubblewrap itself, which still has our rights: nothing that a command could choose."""


class BubblewrapSandbox:
    """Runs commands through `bwrap`."""

    def __init__(self) -> None:
        """A sandbox; nothing is started yet."""
        self._spawner = Spawner()

    @property
    def containment(self) -> Containment:
        """Bubblewrap."""
        return Containment.BUBBLEWRAP

    def run(self, command: Command, stdin: bytes = b"") -> Completed:
        """Run to the end or to the wall-clock limit; never raises for what the command does.

        Raises:
            SandboxError: the command is ill-formed or a mount unusable.
            InfrastructureError: bubblewrap could not set up the sandbox.
        """
        pipe = subprocess.PIPE
        namespace, group = self._launch(command, Streams(stdin=pipe, stdout=pipe, stderr=pipe))
        completed = collect(group, stdin, limits=command.limits)
        if completed.returncode != 0 and not completed.timed_out and not namespace.was_set_up():
            raise InfrastructureError(f"bubblewrap failed before the command ran: {completed.stderr.strip()}")
        return completed

    def start(self, command: Command, log: Path) -> Group:
        """Start in the background with stdin closed and both output streams in `log`.

        `log` is written anew and grows to `limits.file_bytes` at most; `limits.wall_s` is its owner's task.

        Raises:
            SandboxError: the command is ill-formed or a mount unusable.
        """
        with log.open("wb") as out:
            streams = Streams(stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT)
            return self._launch(command, streams)[1]

    def _launch(self, command: Command, streams: Streams) -> tuple["_Namespace", Group]:
        check_command(command)
        with CLAIMING:
            identity = choose_identity(command.mounts)
            claim_mounts(command.mounts, identity)
        status_fd, their_fd = os.pipe()
        try:
            process = self._spawner.spawn(
                [*_build_namespace(command, identity, status_fd=their_fd), *_build_chain(command, identity)],
                env=OUTER_ENVIRONMENT,
                pass_fds=(*command.pass_fds, their_fd),
                streams=streams,
            )
        except BaseException:
            os.close(status_fd)
            raise
        finally:
            os.close(their_fd)
        namespace = _Namespace(process, status_fd)
        left_as_us = command.mounts if is_us(identity) else ()
        # Bound to self, which keeps the spawner's thread alive as long as the group is held.
        settle = partial(self._settle, namespace, left_as_us)
        return namespace, Group(process, stop=namespace.kill, settle=settle)

    def _settle(self, namespace: "_Namespace", mounts: Sequence[Mount]) -> None:
        namespace.close()
        drop_setuid(mounts)


class _Namespace:
    """What bubblewrap says about the process namespace: its first process, then how that ended."""

    def __init__(self, process: subprocess.Popen[bytes], status_fd: int) -> None:
        self._process = process
        self._status_fd = status_fd
        self._told = b""
        if select.select([status_fd], [], [], SETUP_S)[0]:
            self._told = os.read(status_fd, 4096)
        self._first_fd = self._open_first()

    def _open_first(self) -> int | None:
        _, found, rest = self._told.partition(b'"child-pid": ')
        try:
            return os.pidfd_open(int(rest.split(b",")[0])) if found else None
        except ProcessLookupError:
            return None

    def kill(self) -> None:
        """Kill the first process inside, and with it, by the kernel, all others."""
        if self._first_fd is None:
            self._process.kill()
            return
        try:
            signal.pidfd_send_signal(self._first_fd, signal.SIGKILL)
        except ProcessLookupError:
            return
        select.select([self._first_fd], [], [], SETUP_S)

    def close(self) -> None:
        """Read the last words and let go; called after the end."""
        os.set_blocking(self._status_fd, False)
        with contextlib.suppress(BlockingIOError):
            self._told += os.read(self._status_fd, 4096)
        os.close(self._status_fd)
        if self._first_fd is not None:
            os.close(self._first_fd)

    def was_set_up(self) -> bool:
        """Whether the sandbox stood and the command was started in it."""
        return b'"exit-code"' in self._told


def _build_namespace(command: Command, identity: Identity | None, *, status_fd: int) -> list[str]:
    """The bwrap call, up to and without the command."""
    # Looked up here: bubblewrap may be on our PATH and yet outside its own, the system's.
    argv = [shutil.which("bwrap") or "bwrap"]
    argv += ["--die-with-parent", "--new-session", "--json-status-fd", str(status_fd)]
    argv += ["--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try"]
    argv += ["--hostname", "sandbox", "--cap-drop", "ALL"]
    if identity is None:
        argv += ["--unshare-user", "--disable-userns"]
    else:
        # Kept just long enough for setpriv, the first program inside, to give up root for good.
        argv += ["--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID", "--cap-add", "CAP_SETPCAP"]
    for path in find_system_paths():
        argv += _show(path)
    argv += ["--proc", "/proc", *_build_devices(gpu=command.gpu)]
    argv += ["--perms", "1777", "--size", str(TMP_BYTES), "--tmpfs", str(HOME)]
    for mount in (*(Mount(path=path) for path in find_private_paths()), *command.mounts):
        argv += _bind(mount)
    return [*argv, "--remount-ro", "/", "--chdir", "/", "--"]


def _show(path: Path) -> list[str]:
    if path.is_symlink():
        return [*_open_folders_above(path), "--symlink", str(path.readlink()), str(path)]
    return _bind(Mount(path=path))


def _bind(mount: Mount) -> list[str]:
    kind = "--bind" if mount.writable else "--ro-bind"
    return [*_open_folders_above(mount.path), kind, str(mount.path), str(mount.path)]


def _open_folders_above(path: Path) -> list[str]:
    """Make the folders on the way to `path`; bubblewrap by itself would shut its user out of them."""
    folders = reversed(path.parents[:-1])
    return [word for folder in folders for word in ("--perms", "0755", "--dir", str(folder))]


def _build_devices(*, gpu: bool) -> list[str]:
    argv = ["--dev", "/dev", "--perms", "1777", "--size", str(SHARED_MEMORY_BYTES), "--tmpfs", "/dev/shm"]
    for path in find_gpu_devices() if gpu else ():
        argv += ["--dev-bind", str(path), str(path)]
    return [*argv, "--remount-ro", "/dev"]


def _build_chain(command: Command, identity: Identity | None) -> list[str]:
    """Small system programs that each take something away and hand over to the next.

    The environment comes last: a loader variable chosen by the command must not reach a program that
    still has rights.
    """
    argv: list[str] = []
    if identity is not None:
        argv += ["setpriv", "--reuid", str(identity.uid), "--regid", str(identity.gid), "--clear-groups"]
        argv += ["--inh-caps=-all", "--bounding-set=-all", "--no-new-privs"]
    argv += ["choom", "--adjust", "1000", "--", "prlimit"]
    argv += [f"--{name}={value}" for name, value in compute_rlimits(command.limits).items()]
    env = build_environment(command.env, home=HOME, gpu=command.gpu)
    argv += ["--", "env", "--ignore-environment", f"--chdir={command.cwd}"]
    return [*argv, *(f"{name}={value}" for name, value in env.items()), *command.argv]

"""What a sandbox is asked to run, and what it promises."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self


class Containment(StrEnum):
    """How an untrusted command is contained."""

    AUTO = "auto"
    """Bubblewrap where it works, else process, with a loud warning."""
    PROCESS = "process"
    """Own process group, scrubbed environment, resource limits: no file or network isolation."""
    BUBBLEWRAP = "bubblewrap"
    """Everything `process` does, in fresh namespaces with a read-only system and no network."""


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Resource limits of one command and of everything it starts."""

    wall_s: float = 60.0
    """Wall-clock seconds until the whole group is killed."""
    memory_bytes: int | None = None
    """Address space of each process; None where a GPU driver must map more than there is."""
    file_bytes: int = 1 << 30
    """The largest file it may write."""
    processes: int = 256
    """How many processes and threads it may have."""
    output_bytes: int = 1 << 20
    """How much of stdout and of stderr `run` keeps (the middle is cut)."""


@dataclass(frozen=True, kw_only=True)
class Mount:
    """A host path that the command can see, at the same path inside.

    Where we are root and the command is not, a writable mount and all that is in it change owner (see
    `identity`), so mount only what was made for the command. A later mount may lie within an earlier one.
    """

    path: Path
    """Absolute host path of a file, folder or socket."""
    writable: bool = False
    """Whether the command may change it."""


@dataclass(frozen=True, kw_only=True)
class Command:
    """One untrusted command."""

    argv: Sequence[str]
    """Program and arguments."""
    cwd: Path
    """Working folder; must lie in a mount, or be the root folder."""
    mounts: Sequence[Mount] = ()
    """What it can see beside the read-only system and this package's Python."""
    env: Mapping[str, str] = field(default_factory=dict)
    """Its whole environment, beside a fixed PATH, HOME, TMPDIR and LANG."""
    pass_fds: Sequence[int] = ()
    """File descriptors it inherits beside 0, 1 and 2."""
    gpu: bool = False
    """Whether it may see the NVIDIA devices and driver."""
    limits: Limits = field(default_factory=Limits)
    """Its resource limits."""


@dataclass(frozen=True, kw_only=True)
class Completed:
    """How a command ended."""

    returncode: int
    """Exit status; negative is the signal that ended it."""
    stdout: str
    """What it printed, undecodable bytes replaced, the middle cut."""
    stderr: str
    """Likewise."""
    timed_out: bool
    """Whether the wall-clock limit ended it."""
    duration_s: float
    """Wall-clock seconds from start to end."""


class Running(Protocol):
    """A started command. Leaving the context kills its whole group and reaps it."""

    @property
    def pid(self) -> int:
        """Process id of the outermost process, as we see it; everything else descends from it."""
        ...

    def poll(self) -> int | None:
        """Exit status if it has ended, else None."""
        ...

    def kill(self) -> None:
        """Kill the whole group and reap it; harmless when it has ended."""
        ...

    def __enter__(self) -> Self:
        """The running command itself."""
        ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Kill and reap."""
        ...


class Sandbox(Protocol):
    """A way to run untrusted commands."""

    @property
    def containment(self) -> Containment:
        """Which kind this is (never AUTO)."""
        ...

    def run(self, command: Command, stdin: bytes = b"") -> Completed:
        """Run to the end or to the wall-clock limit; never raises for what the command does."""
        ...

    def start(self, command: Command, log: Path) -> Running:
        """Start in the background with stdin closed and both output streams in `log`.

        `limits.wall_s` is not enforced for a started command: its owner kills it.
        """
        ...

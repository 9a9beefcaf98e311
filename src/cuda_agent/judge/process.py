"""A child process as the judge sees it: start it, ask it, lend it memory, and end it."""

import errno
import os
import shutil
import signal
import tempfile
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Literal, TypeVar

from cuda_agent.closing import Closing
from cuda_agent.errors import ProtocolError
from cuda_agent.judge.census import find_processes_below, is_moving, measure_work_ns
from cuda_agent.judge.mailbox import DeviceMailbox, HostMailbox
from cuda_agent.judge.protocol import Attach, Request
from cuda_agent.judge.replies import REPLY, Done, Failed, Reply
from cuda_agent.judge.wire import PeerGoneError, PeerSilentError
from cuda_agent.judge.wired_process import KEPT_HEAP, WiredProcess
from cuda_agent.sandbox.protocol import Mount, Sandbox
from cuda_agent.scratch import remove_tree
from cuda_agent.tasks.target import Target

R = TypeVar("R", bound=Reply)
OwnMailbox = HostMailbox | DeviceMailbox
"""A mailbox that the judge owns."""

_LOG_TAIL_BYTES = 2000
_PROFILER_MARK = "USDT:"
"""How lines begin that torch's profiler writes when it starts and stops."""
_EXIT_GRACE_S = 2.0
_STOP_ALL_S = 5.0
_STOP_GRACE_S = 0.2
_STOP_POLL_S = 2e-5


class ChildError(Exception):
    """A child did not do what it was asked. Carries what an Evaluation needs to say so."""

    def __init__(self, how: Literal["failed", "crashed", "silent"], reason: str, detail: str = "") -> None:
        """Say how it failed, in one sentence, with the lines that matter."""
        super().__init__(reason)
        self.how: Literal["failed", "crashed", "silent"] = how
        self.reason = reason
        self.detail = detail

    @property
    def lacks_room(self) -> bool:
        """Whether a disk was full: for a child that holds no submission, this machine's fault."""
        return os.strerror(errno.ENOSPC) in f"{self.reason}\n{self.detail}"


class ChildProcess(Closing):
    """One sandboxed child, from start to kill."""

    def __init__(
        self,
        program: str,
        *,
        sandbox: Sandbox,
        target: Target,
        folder: Path,
        compiles: bool = False,
    ) -> None:
        """Start `python -m program` with one end of a socket, and its log in `folder`.

        Args:
            program: module to run.
            sandbox: how to contain it.
            target: decides whether it sees a GPU.
            folder: the judge's own folder, of which the child sees only what `hand_over` puts there.
            compiles: whether it has a folder for what torch.compile builds; no child that meets a submission
                may see what another process left.
        """
        self._folder = Path(tempfile.mkdtemp(prefix=f"{program.rsplit('.', 1)[-1]}-", dir=folder))
        scratch, self._desk = self._folder / "scratch", self._folder / "desk"
        for part in (scratch, self._desk):
            part.mkdir(mode=0o700)
        self.cache = self._folder / "cache" if compiles else None
        """Where what torch.compile builds lies, as long as the child is not closed."""
        if self.cache is not None:
            self.cache.mkdir(mode=0o700)
        kept = [] if self.cache is None else [Mount(path=self.cache, writable=True)]
        self._process = WiredProcess(
            [program],
            sandbox=sandbox,
            target=target,
            scratch=scratch,
            env=_build_environment(target, cache=self.cache),
            mounts=[Mount(path=self._desk), *kept],
        )
        self._started: set[int] = set()

    def hand_over(self, file: Path) -> Path:
        """Copy a file to where the child can read it, and say where that is."""
        copy = self._desk / file.name
        shutil.copyfile(file, copy)
        copy.chmod(0o644)
        return copy

    def ask(self, request: Request, expected: type[R], *, timeout_s: float, fds: Sequence[int] = ()) -> R:
        """Ask one thing and wait for its reply.

        Raises:
            ChildError: it answered that it failed, something else, nonsense, nothing, or it is gone.
        """
        self.send(request, fds=fds)
        return self.receive(expected, timeout_s=timeout_s)

    def send(self, request: Request, *, fds: Sequence[int] = ()) -> None:
        """Ask without waiting; `receive` takes the reply."""
        with suppress(PeerGoneError):
            self._process.wire.send(request, fds=fds)

    def receive(self, expected: type[R], *, timeout_s: float) -> R:
        """The reply to the oldest unanswered request; raises as `ask` does."""
        try:
            reply = self._process.wire.receive(REPLY, timeout_s=timeout_s)
        except PeerGoneError:
            raise self._diagnose() from None
        except PeerSilentError:
            raise self._end("silent", f"no answer within {timeout_s:.0f} s") from None
        except ProtocolError as error:
            raise self._end("crashed", f"the process broke the protocol: {error}") from None
        if isinstance(reply, Failed):
            raise ChildError("failed", reply.reason, reply.detail)
        if not isinstance(reply, expected):
            raise self._end("crashed", f"the process answered {reply.kind} out of turn")
        return reply

    def lend(self, box: Literal["inbox", "outbox"], mailbox: OwnMailbox) -> None:
        """Give the child access to a mailbox; raises as `ask` does."""
        nbytes = mailbox.memory.numel()
        if isinstance(mailbox, DeviceMailbox):
            self.ask(Attach(box=box, nbytes=nbytes, handle=mailbox.handle.hex()), Done, timeout_s=30)
        else:
            self.ask(Attach(box=box, nbytes=nbytes), Done, timeout_s=30, fds=[mailbox.fd])

    def count_threads(self) -> int:
        """Threads of everything it has started, itself included, counted from outside."""
        return sum(find_processes_below(self._process.running.pid).values())

    def measure_work_ns(self) -> int:
        """Processor time of everything it has started, itself included."""
        return measure_work_ns(find_processes_below(self._process.running.pid))

    def stop(self, *, looks_again: bool = False) -> None:
        """Let it and everything it has started stand still.

        What it has started is looked for the first time, and where `looks_again` asks for it.

        Raises:
            ChildError: it starts processes faster than they can be stopped; it was killed.
        """
        if looks_again or not self._started:
            self._started = self._stop_all()
        else:
            _signal(self._started, signal.SIGSTOP)
        deadline = time.monotonic() + _STOP_GRACE_S
        while any(map(is_moving, self._started)) and time.monotonic() < deadline:
            time.sleep(_STOP_POLL_S)

    def resume(self) -> None:
        """Let it go on; harmless when it never stopped."""
        _signal(self._started, signal.SIGCONT)

    def _stop_all(self) -> set[int]:
        """Whoever is not stopped yet may start others, so look until there is nobody new."""
        stopped: set[int] = set()
        deadline = time.monotonic() + _STOP_ALL_S
        while found := find_processes_below(self._process.running.pid).keys() - stopped:
            if time.monotonic() > deadline:
                raise self._end("crashed", "it starts processes faster than they can be stopped")
            _signal(found, signal.SIGSTOP)
            stopped |= found
        return stopped

    def is_gone(self) -> bool:
        """Whether it has ended."""
        return self._process.running.poll() is not None

    def end(self) -> None:
        """Kill and reap; harmless when it is gone."""
        self._process.close()

    def close(self) -> None:
        """Kill, reap and remove its files; harmless when it is gone."""
        self._process.close()
        remove_tree(self._folder)

    def _diagnose(self) -> ChildError:
        deadline = time.monotonic() + _EXIT_GRACE_S
        while (status := self._process.running.poll()) is None and time.monotonic() < deadline:
            time.sleep(0.01)
        if status is None:
            return self._end("crashed", "the process closed its connection")
        number = -status if status < 0 else status - 128 if status > 128 else 0
        names = {s.value: s.name for s in signal.Signals}
        if number in names:
            return self._end("crashed", f"the process was ended by {names[number]}")
        return self._end("crashed", f"the process exited early with status {status}")

    def _end(self, how: Literal["crashed", "silent"], reason: str) -> ChildError:
        """Kill it, then take what it printed, which goes with its files."""
        self._process.close()
        error = ChildError(how, reason, self._read_log())
        self.close()
        return error

    def _read_log(self) -> str:
        try:
            with self._process.log.open("rb") as log:
                log.seek(max(0, self._process.log.stat().st_size - _LOG_TAIL_BYTES))
                lines = log.read().decode(errors="replace").splitlines(keepends=True)
                return "".join(line for line in lines if not line.startswith(_PROFILER_MARK))
        except OSError:
            return ""


def _signal(pids: Iterable[int], number: signal.Signals) -> None:
    for pid in pids:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)


def _build_environment(target: Target, *, cache: Path | None) -> dict[str, str]:
    environment = {"OMP_NUM_THREADS": str(count_threads()), **KEPT_HEAP}
    if cache is not None:
        environment |= {
            "TORCHINDUCTOR_CACHE_DIR": str(cache),
            # For the one or few kernels of a task these two preparations cost more than they save; the
            # instruction set is then taken from the processor's flags, which gives the same code.
            "TORCHINDUCTOR_CPP_CACHE_PRECOMPILE_HEADERS": "0",
            "TORCHINDUCTOR_VEC_ISA_OK": "1",
        }
    if target is Target.CPU:
        environment["OMP_PROC_BIND"] = "true"
    return environment


def count_threads() -> int:
    """How many threads a cpu kernel and its baselines use."""
    return len(os.sched_getaffinity(0))

"""Candidates tried in a sandboxed process that outlives them; a hang or a crash costs only the one."""

import contextlib
import shutil
import tempfile
from pathlib import Path
from typing import TypeVar

from cuda_agent.closing import Closing
from cuda_agent.errors import InfrastructureError, ProtocolError
from cuda_agent.judge.wired_process import KEPT_HEAP, WiredProcess
from cuda_agent.sandbox.protocol import Sandbox
from cuda_agent.scratch import remove_tree
from cuda_agent.synthesis.questions import ANSWER, Answer, Done, Failed, Question, Warm
from cuda_agent.tasks.target import Target
from cuda_agent.workers.cores import count_cores

A = TypeVar("A", bound=Answer)

_ASKED_AT_MOST = 400
"""Questions after which a process is replaced: compiled code and memory pile up in it."""
_START_S = 600.0
_STARTS = 3
_PROGRAM = "cuda_agent.synthesis.examine"
_ENVIRONMENT = KEPT_HEAP | {
    # Kept for all candidates of a process; torch names what it keeps by a digest that openssl takes.
    "TORCHINDUCTOR_CPP_CACHE_PRECOMPILE_HEADERS": str(int(shutil.which("openssl") is not None)),
    "TORCHINDUCTOR_VEC_ISA_OK": "1",
    "TORCHINDUCTOR_COMPILE_THREADS": "1",
    "HF_HUB_OFFLINE": "1",
}


class ProbeError(Exception):
    """The candidate did not survive the question; the message says how it failed."""


class Probe(Closing):
    """Asks questions about one candidate after another."""

    def __init__(self, *, sandbox: Sandbox, target: Target, compiles: bool = False) -> None:
        """Nothing is started before the first question; `compiles` has a process ready for torch.compile."""
        self._compiles = compiles
        self._sandbox = sandbox
        self._target = target
        self._folder = Path(tempfile.mkdtemp(prefix="cuda-agent-probe-"))
        self._folder.chmod(0o755)
        self._process: WiredProcess | None = None
        self._asked = 0
        self._is_closed = False

    def ask(self, question: Question, expected: type[A], *, timeout_s: float) -> A:
        """The answer to one question.

        Raises:
            ProbeError: the program failed, the process died or broke the protocol, or no answer came in time;
                the next question meets a fresh process.
        """
        try:
            if self._process is None and not self._is_closed:
                self._start()
            if self._process is None:
                raise ProbeError("the probe was closed")
            wire = self._process.wire
            wire.send(question)
            answer = wire.receive(ANSWER, timeout_s=timeout_s)
            self._asked += 1
        except ProtocolError as error:
            self._stop()
            raise ProbeError(f"the process did not answer: {error}") from error
        if isinstance(answer, Failed):
            if answer.is_device_lost:
                self._stop()
            raise ProbeError(answer.reason)
        if not isinstance(answer, expected):
            self._stop()
            raise ProbeError(f"the process answered {answer.kind} out of turn")
        return answer

    def begin(self) -> None:
        """Have a process ready for the next candidate: a fresh one when the old one has served long enough.

        Raises:
            InfrastructureError: none can be started.
        """
        if self._asked >= _ASKED_AT_MOST:
            self._stop()
        for tried in range(_STARTS):
            if self._process is not None:
                return
            try:
                self.ask(Warm(compiles=self._compiles), Done, timeout_s=_START_S)
            except ProbeError as error:
                if tried == _STARTS - 1 or self._is_closed:
                    mend = "cuda-agent doctor says what this machine lacks"
                    raise InfrastructureError(f"no process can run candidates ({error}); {mend}") from error

    def close(self) -> None:
        """End the process, whoever waits for it, and remove its folder."""
        self._is_closed = True
        self._stop()
        remove_tree(self._folder)

    def _start(self) -> None:
        is_gpu = self._target is Target.CUDA
        # Of a GPU's task nothing is computed on the host, where as many compile as there are cores.
        threads = 1 if is_gpu else count_cores()
        scratch = Path(tempfile.mkdtemp(prefix="scratch-", dir=self._folder))
        self._process = WiredProcess(
            [_PROGRAM, self._target.value, str(threads)],
            sandbox=self._sandbox,
            target=self._target,
            scratch=scratch,
            env=_ENVIRONMENT
            | {"OMP_NUM_THREADS": str(threads), "TORCHINDUCTOR_CACHE_DIR": str(scratch / "inductor")},
        )
        self._asked = 0

    def _stop(self) -> None:
        if self._process is not None:
            self._process.close()
        self._process = None
        for folder in self._folder.iterdir():
            with contextlib.suppress(OSError):
                remove_tree(folder) if folder.is_dir() else folder.unlink()

"""The reference process as the judge sees it: started, put before the gate, warmed, blamed or cleared."""

import secrets
from collections.abc import Callable

import torch

from cuda_agent.errors import InfrastructureError
from cuda_agent.judge.compile_cache import keep_compiled, lend_compiled
from cuda_agent.judge.gatekeeper import hint_at_dtype
from cuda_agent.judge.inputs import VARIANTS
from cuda_agent.judge.policy import JudgePolicy
from cuda_agent.judge.process import ChildError, ChildProcess
from cuda_agent.judge.protocol import (
    CheckTask,
    Compile,
    DrawInputs,
    DrawWeights,
    Expect,
    OpenTask,
    Precompile,
    Warm,
)
from cuda_agent.judge.replies import Described, Done, Expected, Prepared, TaskChecked, TaskOpened
from cuda_agent.judge.result import TaskResult, TaskStatus
from cuda_agent.tasks.target import Target
from cuda_agent.tasks.task import Task

_START_TIMEOUT_S = 120.0
_LOAD_TIMEOUT_S = 60.0
_TIMEOUT_S = 300.0
_COPIES = 7
"""How often a task's tensors exist at once while it is judged: inputs and outputs on both sides, in
mailboxes, and in float64."""
_LARGE_SHARE = 8
"""A task is large from this part of the memory on: judges that verify together would not all have room."""


class TaskProcess:
    """One task's process, which stays warm between submissions, and what is known of the task."""

    def __init__(
        self, task: Task, target: Target, *, policy: JudgePolicy, start: Callable[[], ChildProcess]
    ) -> None:
        """Start nothing yet.

        Args:
            task: the reference.
            target: where it runs.
            policy: how strictly submissions will be judged.
            start: gives a process that knows no task yet, whose first reply is still to be received.
        """
        self.task = task
        """The reference."""
        self._target = target
        self._policy = policy
        self._start = start
        self._child: ChildProcess | None = None
        self._prepared: Prepared | None = None
        self._opened: TaskOpened | None = None
        self._found = TaskResult()
        self._needed_bytes = 0
        self.result: TaskResult | None = None
        """What the gate found, or what showed later; None as long as nobody has looked."""

    @property
    def child(self) -> ChildProcess:
        """The running process."""
        assert self._child is not None, "check comes first"
        return self._child

    @property
    def prepared(self) -> Prepared:
        """What the process said when it was ready."""
        assert self._prepared is not None, "check comes first"
        return self._prepared

    @property
    def opened(self) -> TaskOpened:
        """What the process said of the task."""
        assert self._opened is not None, "check comes first"
        return self._opened

    @property
    def is_open(self) -> bool:
        """Whether the process is there and knows its task."""
        return self._opened is not None

    @property
    def is_refused(self) -> bool:
        """Whether the task will never be judged; memory may be free, and a crash not come, the next time."""
        return self.result is not None and self.result.status is TaskStatus.FAULTY

    @property
    def is_crowded_out(self) -> bool:
        """Whether the task lacks room only because others use the memory too."""
        lacks_room = self.result is not None and self.result.status is TaskStatus.DOES_NOT_FIT
        return lacks_room and _COPIES * self._needed_bytes <= read_total_bytes(self._target)

    @property
    def is_large(self) -> bool:
        """Whether judging it takes so much memory that nobody else should verify meanwhile."""
        return _COPIES * self._needed_bytes * _LARGE_SHARE > read_total_bytes(self._target)

    def start(self) -> None:
        """Start it without waiting, up to where it would need the device for the task."""
        if self._child is None and not self.is_refused:
            self._child = self._start()

    def wait(self) -> None:
        """Wait until the process has paid for its imports and its device.

        Raises:
            InfrastructureError: this machine could not even start it.
        """
        self.start()
        if self._child is not None and self._prepared is None:
            self._prepared = receive_prepared(self._child)

    def check(self) -> TaskResult:
        """Put the task before the gate and warm it: once, before any submission is loaded.

        Raises:
            InfrastructureError: this machine could not even start the process.
        """
        if not self.is_refused and self._opened is None:
            self.wait()
            self.result = self._open(self.child)
            if not self.result.is_judged:
                self.forget()
        assert self.result is not None
        return self.result

    def precompile(self) -> TaskResult:
        """Have it build what torch.compile will need, which takes no device."""
        try:
            self.child.ask(Precompile(), Done, timeout_s=_TIMEOUT_S)
        except ChildError as error:
            # What the compiler refuses shows again, with its reason, when it is really needed.
            if error.how != "failed":
                self.forget()
                self.result = _blame(error, "could not be compiled")
        assert self.result is not None, "check comes first"
        return self.result

    def check_room(self) -> TaskResult:
        """Whether the task fits at present; memory comes and goes."""
        assert self.result is not None, "check comes first"
        if self._opened is not None:
            self.result = self._check_memory(self.allow_bytes()) or self._found
        return self.result

    def try_alone(self, *, compiled: bool = False) -> TaskResult:
        """Whether the reference fails with no submission near it too: only then is the task at fault.

        With `compiled` it is also compiled, for that may end its process.
        """
        result = self.check()
        if not result.is_judged:
            return result
        try:
            for variant in range(VARIANTS):
                seed = secrets.randbits(62)
                self.child.ask(DrawWeights(seed=seed), Described, timeout_s=_TIMEOUT_S)
                self.child.ask(DrawInputs(seed=seed, variant=variant), Described, timeout_s=_TIMEOUT_S)
                self.child.ask(Expect(), Expected, timeout_s=_TIMEOUT_S)
            if compiled:
                self._compile()
        except ChildError as error:
            self.forget()
            self.result = result = _blame(error, "failed")
        return result

    def _compile(self) -> None:
        try:
            self.child.ask(Compile(), Done, timeout_s=_TIMEOUT_S)
        except ChildError as error:
            if error.how != "failed":  # what the compiler refuses has no compiled baseline, and is judged
                raise

    def forget(self) -> None:
        """End it; the next question starts another."""
        child = self._child
        if child is not None:
            child.end()
            if child.cache is not None and self._opened is not None:
                keep_compiled(self.task, child.cache)
            child.close()
        self._child = self._prepared = self._opened = None

    def allow_bytes(self) -> int:
        """How much memory the task may need, at present."""
        return read_available_bytes(self._target) // _COPIES

    def _open(self, child: ChildProcess) -> TaskResult:
        if child.cache is not None:
            lend_compiled(self.task, child.cache)
        step, allowed_bytes = "could not be opened", self.allow_bytes()
        try:
            request = OpenTask(source=self.task.source, memory_bytes=allowed_bytes)
            self._opened = child.ask(request, TaskOpened, timeout_s=_LOAD_TIMEOUT_S)
            self._needed_bytes = self._opened.needed_bytes
            step = "failed"
            found = child.ask(CheckTask(policy=self._policy), TaskChecked, timeout_s=_TIMEOUT_S).result
            if found.is_judged:
                child.ask(Warm(), Done, timeout_s=_TIMEOUT_S)
        except ChildError as error:
            if error.lacks_room:
                raise InfrastructureError(f"no room for the reference's process: {error.reason}") from error
            return _blame(error, step)
        self._found = found
        return self._check_memory(allowed_bytes) or found

    def _check_memory(self, allowed_bytes: int) -> TaskResult | None:
        needed_bytes, gib = self._needed_bytes, 1 << 30
        if needed_bytes <= allowed_bytes:
            return None
        return TaskResult(
            status=TaskStatus.DOES_NOT_FIT,
            reason=f"the task's inputs, weights and outputs take {needed_bytes / gib:.2f} GiB, and judging "
            f"needs about {_COPIES} times that; "
            f"{allowed_bytes * _COPIES / gib:.2f} GiB are free here",
        )


def receive_prepared(child: ChildProcess) -> Prepared:
    """A child's first reply.

    Raises:
        InfrastructureError: it did not start.
    """
    try:
        return child.receive(Prepared, timeout_s=_START_TIMEOUT_S)
    except ChildError as error:
        detail = f"\n{error.detail}" if error.detail else ""
        raise InfrastructureError(f"a judge's process did not start: {error.reason}{detail}") from error


def read_available_bytes(target: Target) -> int:
    """Free memory where the target's tensors live."""
    return int(torch.cuda.mem_get_info()[0]) if target is Target.CUDA else _read_meminfo("MemAvailable")


def read_total_bytes(target: Target) -> int:
    """All memory there is where the target's tensors live."""
    return int(torch.cuda.mem_get_info()[1]) if target is Target.CUDA else _read_meminfo("MemTotal")


def _read_meminfo(name: str) -> int:
    with open("/proc/meminfo", encoding="utf-8") as lines:
        for line in lines:
            if line.startswith(f"{name}:"):
                return int(line.split()[1]) * 1024
    raise InfrastructureError(f"/proc/meminfo does not say {name}")


def _blame(error: ChildError, step: str) -> TaskResult:
    reason = f"the reference {step}: {error.reason}{hint_at_dtype(error.reason)}"
    return TaskResult(status=TaskStatus.FAILED, reason=reason, detail=error.detail)

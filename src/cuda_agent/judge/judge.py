"""The judge: gives a built submission and a task to two separate processes, and decides."""

import tempfile
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

import torch

from cuda_agent.errors import InfrastructureError
from cuda_agent.judge.policy import JudgePolicy
from cuda_agent.judge.process import ChildError, ChildProcess, count_threads
from cuda_agent.judge.profile import Facts, Profiler
from cuda_agent.judge.protocol import Done, Load, OpenTask, Prepare, Prepared, TaskOpened
from cuda_agent.judge.result import ProfileResult, VerifyResult, VerifyStatus
from cuda_agent.judge.session import Session
from cuda_agent.judge.verify import describe_failure, verify
from cuda_agent.sandbox.protocol import Mount, Sandbox
from cuda_agent.tasks.target import Target
from cuda_agent.tasks.task import Task

_START_TIMEOUT_S = 120.0
_LOAD_TIMEOUT_S = 60.0
_COPIES = 7
"""How often a task's tensors exist at once while it is judged: inputs and outputs on both sides, in
mailboxes, and in float64."""


@dataclass(frozen=True, kw_only=True)
class Artifact:
    """A built submission."""

    folder: Path
    """Holds the frozen model_new.py."""
    library: Path | None
    """The built kernels; None when it has none."""


class Judge:
    """Judges submissions to one task on one target; keeps the task's own process warm between them."""

    def __init__(self, task: Task, *, target: Target, sandbox: Sandbox, policy: JudgePolicy) -> None:
        """Start nothing yet: the first `examine` does."""
        self._task = task
        self._target = target
        self._sandbox = sandbox
        self._policy = policy
        self._folder = tempfile.TemporaryDirectory(prefix="judge-")
        self._reference: ChildProcess | None = None
        self._prepared: Prepared | None = None
        self._opened: TaskOpened | None = None

    def examine(self, artifact: Artifact, *, profile: bool) -> tuple[VerifyResult, ProfileResult | None]:
        """Verify a submission and, if it is right and that is asked for, profile it.

        Raises:
            InfrastructureError: this machine could not even start the processes.
        """
        with self._start("cuda_agent.judge.runner", self._mount(artifact)) as runner:
            runner.send(self._build_prepare())
            try:
                self._open_reference()
            except ChildError as error:
                reason = f"the reference could not be opened: {error.reason}"
                return VerifyResult(status=VerifyStatus.TASK_ERROR, reason=reason, detail=error.detail), None
            finally:
                self._receive_prepared(runner)
            assert self._opened is not None
            if self._opened.needed_bytes > self._allow_bytes():
                return self._refuse(self._opened.needed_bytes), None
            return self._examine_loaded(runner, artifact, profile=profile)

    def close(self) -> None:
        """End the task's process and remove the judge's own files."""
        self._forget_reference()
        self._folder.cleanup()

    def __enter__(self) -> Self:
        """The judge itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close."""
        self.close()

    def _examine_loaded(
        self, runner: ChildProcess, artifact: Artifact, *, profile: bool
    ) -> tuple[VerifyResult, ProfileResult | None]:
        try:
            library = str(artifact.library) if artifact.library else None
            runner.ask(Load(folder=str(artifact.folder), library=library), Done, timeout_s=_LOAD_TIMEOUT_S)
        except ChildError as error:
            return describe_failure(error, "load"), None
        assert self._reference is not None
        assert self._opened is not None
        assert self._prepared is not None
        session = Session(self._reference, runner, target=self._target)
        try:
            verified = verify(session, self._opened.arguments, policy=self._policy)
            if not profile or verified.status is not VerifyStatus.OK:
                return verified, None
            facts = Facts(
                device=self._prepared.device,
                versions=self._prepared.versions,
                copy_gb_per_s=self._prepared.copy_gb_per_s,
                memory_bytes=self._allow_bytes() // 2,
            )
            return verified, Profiler(session, policy=self._policy, facts=facts).run()
        finally:
            session.close()
            if self._reference.is_gone():
                self._forget_reference()

    def _open_reference(self) -> None:
        if self._reference is not None:
            return
        self._reference = self._start("cuda_agent.judge.reference", [])
        try:
            self._reference.send(self._build_prepare())
            self._prepared = self._receive_prepared(self._reference)
            self._opened = self._reference.ask(
                OpenTask(source=self._task.source, memory_bytes=self._allow_bytes()),
                TaskOpened,
                timeout_s=_LOAD_TIMEOUT_S,
            )
        except ChildError:
            self._forget_reference()
            raise

    def _receive_prepared(self, child: ChildProcess) -> Prepared:
        try:
            return child.receive(Prepared, timeout_s=_START_TIMEOUT_S)
        except ChildError as error:
            detail = f"\n{error.detail}" if error.detail else ""
            raise InfrastructureError(f"a judge's process did not start: {error.reason}{detail}") from error

    def _forget_reference(self) -> None:
        if self._reference is not None:
            self._reference.close()
            self._reference = None

    def _start(self, program: str, mounts: list[Mount]) -> ChildProcess:
        return ChildProcess(
            program, sandbox=self._sandbox, target=self._target, folder=Path(self._folder.name), mounts=mounts
        )

    def _build_prepare(self) -> Prepare:
        return Prepare(target=self._target, precision=self._policy.precision, threads=count_threads())

    def _mount(self, artifact: Artifact) -> list[Mount]:
        paths = [artifact.folder, *([artifact.library.parent] if artifact.library else [])]
        return [Mount(path=path) for path in dict.fromkeys(paths)]

    def _allow_bytes(self) -> int:
        return read_available_bytes(self._target) // _COPIES

    def _refuse(self, needed_bytes: int) -> VerifyResult:
        gib = 1 << 30
        return VerifyResult(
            status=VerifyStatus.DOES_NOT_FIT,
            reason=f"the task's inputs, weights and outputs take {needed_bytes / gib:.2f} GiB, and judging "
            f"needs about {_COPIES} times that; "
            f"{read_available_bytes(self._target) / gib:.2f} GiB are free here",
        )


def read_available_bytes(target: Target) -> int:
    """Free memory where the target's tensors live."""
    if target is Target.CUDA:
        return int(torch.cuda.mem_get_info()[0])
    with open("/proc/meminfo", encoding="utf-8") as lines:
        for line in lines:
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    raise InfrastructureError("/proc/meminfo does not say how much memory is available")

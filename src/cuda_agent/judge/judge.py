"""The judge: gives a built submission and a task to two separate processes, and decides."""

import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

import torch

from cuda_agent.errors import InfrastructureError
from cuda_agent.judge.lease import Lease, name_device
from cuda_agent.judge.policy import JudgePolicy, Layer
from cuda_agent.judge.process import ChildError, ChildProcess, count_threads
from cuda_agent.judge.profile import Facts, Profiler
from cuda_agent.judge.protocol import Load, OpenTask, Prepare, Warm
from cuda_agent.judge.replies import Done, Prepared, TaskOpened
from cuda_agent.judge.result import ProfileResult, VerifyResult, VerifyStatus
from cuda_agent.judge.session import Session
from cuda_agent.judge.verify import Verifier, describe_failure
from cuda_agent.sandbox.protocol import Sandbox
from cuda_agent.tasks.target import Target
from cuda_agent.tasks.task import Task

_REFERENCE = "cuda_agent.judge.reference"
_RUNNER = "cuda_agent.judge.runner"
_START_TIMEOUT_S = 120.0
_LOAD_TIMEOUT_S = 60.0
_WARM_TIMEOUT_S = 300.0
_MANY_THREADS = 8
"""With so many cores the next runner may start while this one is timed: it only imports, and waits."""
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
    """Judges submissions to one task on one target.

    Keeps the task's own process warm between submissions, and one prepared runner waiting for the next.
    """

    def __init__(self, task: Task, *, target: Target, sandbox: Sandbox, policy: JudgePolicy) -> None:
        """Start nothing yet."""
        self._task = task
        self._target = target
        self._sandbox = sandbox
        self._policy = policy
        self._lease = Lease(name_device(target))
        self._folder = tempfile.TemporaryDirectory(prefix="judge-")
        self._waiting: ChildProcess | None = None
        self._examined: ChildProcess | None = None
        self._reference: ChildProcess | None = None
        self._prepared: Prepared | None = None
        self._opened: TaskOpened | None = None

    def prewarm(self) -> None:
        """Start what the next `examine` will need, without waiting for it."""
        if self._reference is None:
            self._reference = self._start(_REFERENCE, find_compile_cache(self._task))
            self._reference.send(self._build_prepare())
            self._reference.send(OpenTask(source=self._task.source, memory_bytes=self._allow_bytes()))
            self._reference.send(Warm())
        if self._waiting is None:
            self._waiting = self._start(_RUNNER)

    def examine(self, artifact: Artifact, *, profile: bool) -> tuple[VerifyResult, ProfileResult | None]:
        """Verify a submission and, if it is right and that is asked for, profile it.

        Raises:
            InfrastructureError: this machine could not even start the processes.
        """
        self.prewarm()
        runner, self._waiting = self._waiting, None
        assert runner is not None
        self._examined = runner
        with runner:
            with self._lease.share():
                opened = self._open_task()
                if isinstance(opened, VerifyResult):
                    return opened, None
                if opened.needed_bytes > self._allow_bytes():
                    return self._refuse(opened.needed_bytes), None
                runner.send(self._build_prepare())
                self._receive_prepared(runner)
            if count_threads() >= _MANY_THREADS:
                self._waiting = self._start(_RUNNER)
            return self._examine_on(runner, artifact, opened=opened, profile=profile)

    def close(self) -> None:
        """End every process, also in the middle of an `examine`, and remove the judge's own files."""
        for child in (self._waiting, self._examined):
            if child is not None:
                child.close()
        self._waiting = self._examined = None
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

    def _examine_on(
        self, runner: ChildProcess, artifact: Artifact, *, opened: TaskOpened, profile: bool
    ) -> tuple[VerifyResult, ProfileResult | None]:
        threads_before = runner.count_threads()
        folder = runner.hand_over(artifact.folder / "model_new.py").parent
        library = str(runner.hand_over(artifact.library)) if artifact.library else None
        try:
            runner.ask(Load(folder=str(folder), library=library), Done, timeout_s=_LOAD_TIMEOUT_S)
        except ChildError as error:
            return describe_failure(error, "load"), None
        assert self._reference is not None
        session = Session(
            self._reference,
            runner,
            target=self._target,
            threads_before=threads_before,
            takes_turns=self._policy.has(Layer.TURNS),
        )
        try:
            with self._lease.share():
                verified = Verifier(session, opened.arguments, policy=self._policy).run()
            if not profile or verified.status is not VerifyStatus.OK:
                return verified, None
            with self._lease.take():
                facts = self._collect_facts(opened)
                return verified, Profiler(session, policy=self._policy, facts=facts).run()
        finally:
            session.close()
            if self._reference.is_gone():
                self._forget_reference()

    def _collect_facts(self, opened: TaskOpened) -> Facts:
        assert self._prepared is not None
        return Facts(
            device=self._prepared.device,
            versions=self._prepared.versions,
            copy_gb_per_s=opened.copy_gb_per_s,
            memory_bytes=self._allow_bytes() // 2,
        )

    def _open_task(self) -> TaskOpened | VerifyResult:
        if self._opened is not None:
            return self._opened
        assert self._reference is not None
        self._prepared = self._receive_prepared(self._reference)
        try:
            self._opened = self._reference.receive(TaskOpened, timeout_s=_LOAD_TIMEOUT_S)
            self._finish_warming(self._reference)
        except ChildError as error:
            self._forget_reference()
            reason = f"the reference could not be opened: {error.reason}"
            if error.lacks_room:
                raise InfrastructureError(reason) from error
            return VerifyResult(status=VerifyStatus.TASK_ERROR, reason=reason, detail=error.detail)
        return self._opened

    def _finish_warming(self, reference: ChildProcess) -> None:
        try:
            reference.receive(Done, timeout_s=_WARM_TIMEOUT_S)
        except ChildError as error:
            if error.how != "failed":
                raise
            # Whatever it could not do shows again, with its reason, when it is really needed.

    def _receive_prepared(self, child: ChildProcess) -> Prepared:
        try:
            return child.receive(Prepared, timeout_s=_START_TIMEOUT_S)
        except ChildError as error:
            detail = f"\n{error.detail}" if error.detail else ""
            raise InfrastructureError(f"a judge's process did not start: {error.reason}{detail}") from error

    def _forget_reference(self) -> None:
        if self._reference is not None:
            self._reference.close()
        self._reference = self._prepared = self._opened = None

    def _start(self, program: str, cache: Path | None = None) -> ChildProcess:
        return ChildProcess(
            program,
            sandbox=self._sandbox,
            target=self._target,
            folder=Path(self._folder.name),
            cache=cache,
        )

    def _build_prepare(self) -> Prepare:
        return Prepare(target=self._target, precision=self._policy.precision, threads=count_threads())

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


def find_compile_cache(task: Task) -> Path:
    """Where torch.compile keeps what it built for a task; each task has a folder of its own."""
    root = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = root / "cuda-agent" / "inductor" / task.key
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InfrastructureError(
            f"{folder}, where torch.compile keeps what it built, cannot be made ({error.strerror}): mend it, "
            "or let XDG_CACHE_HOME name a folder that can be written"
        ) from error
    return folder

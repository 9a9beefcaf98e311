"""The judge: gives a built submission and a task to two separate processes, and decides."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path

from cuda_agent.closing import Closing
from cuda_agent.errors import InfrastructureError
from cuda_agent.judge.ahead import Ahead
from cuda_agent.judge.baseline import KeptBaseline
from cuda_agent.judge.lease import Lease, name_device
from cuda_agent.judge.policy import JudgePolicy, Layer
from cuda_agent.judge.process import ChildError, ChildProcess
from cuda_agent.judge.profile import Facts, Profiler
from cuda_agent.judge.protocol import Load
from cuda_agent.judge.replies import Done
from cuda_agent.judge.result import (
    ProfileResult,
    ProfileStatus,
    TaskResult,
    TaskStatus,
    VerifyResult,
    VerifyStatus,
)
from cuda_agent.judge.session import Session
from cuda_agent.judge.stock import Stock
from cuda_agent.judge.stopwatch import Stopwatch
from cuda_agent.judge.task_process import TaskProcess, receive_prepared
from cuda_agent.judge.verify import Verifier, describe_failure
from cuda_agent.sandbox.protocol import Sandbox
from cuda_agent.tasks.target import Target
from cuda_agent.tasks.task import Task

_LOAD_TIMEOUT_S = 60.0
_END_TIMEOUT_S = 2.0


@dataclass(frozen=True, kw_only=True)
class Artifact:
    """A built submission."""

    folder: Path
    """Holds the frozen model_new.py."""
    kernels: Path | None
    """The built kernels; None when it has none."""


class Judge(Closing):
    """Judges submissions to one task on one target.

    Keeps the task's own process warm between submissions, and a stock of runners waiting for the next ones.
    """

    def __init__(
        self,
        task: Task,
        *,
        target: Target,
        sandbox: Sandbox,
        policy: JudgePolicy,
        stock: Stock | None = None,
    ) -> None:
        """Start nothing yet; a `stock` that is given is used, and stays open."""
        self._target = target
        self._policy = policy
        self._stock = stock or Stock(target, sandbox=sandbox, precision=policy.precision)
        self._owns_stock = stock is None
        self._warming: Ahead | None = None
        self._examined: ChildProcess | None = None
        self._is_closed = False
        self._task = TaskProcess(task, target, policy=policy, start=self._stock.take_reference)

    @cached_property
    def _lease(self) -> Lease:
        return Lease(name_device(self._target))

    @cached_property
    def _baseline(self) -> KeptBaseline:
        return KeptBaseline(self._task.task, self._target, policy=self._policy)

    @property
    def task_result(self) -> TaskResult | None:
        """What is known of the task; None as long as nobody has looked."""
        return self._task.result

    def check_task(self) -> TaskResult:
        """Put the task before the gate; once for a task, before any submission is loaded.

        Raises:
            InfrastructureError: this machine could not even start the process.
        """
        self._finish_warming()
        return self._check_task()

    def prewarm(self, *, profiles: bool = True) -> None:
        """Start what the next `examine` will need, without waiting; only profiling needs torch.compile.

        Processes start and torch.compile builds while others are timed; what uses the device waits for them.
        """
        self._task.start()
        if not self._task.is_refused:
            self._stock.refill()
        if self._warming is None:
            self._warming = Ahead(partial(self._warm, profiles=profiles))

    def examine(
        self, artifact: Artifact, *, profile: bool, watch: Stopwatch | None = None
    ) -> tuple[VerifyResult, ProfileResult | None]:
        """Verify a submission and, if it is right and that is asked for, profile it.

        What it takes is added to `watch`, by the names that `Evaluation.seconds` has.

        Raises:
            InfrastructureError: this machine could not even start the processes.
        """
        watch = watch or Stopwatch()
        with watch.time("open"):
            self.prewarm(profiles=profile)
            self._finish_warming()
        result = self._check_room()
        if not result.is_judged:
            return _describe_refusal(result), None
        try:
            runner, threads_before = self._load(artifact, profile=profile, watch=watch)
        except ChildError as error:
            return describe_failure(error, "load"), None
        try:
            session = self._open_session(runner, threads_before)
            verified, profiled = self._examine_in(session, profile=profile, watch=watch)
        finally:
            self._stock.retire(runner)
        baseline_failed = profiled is not None and profiled.status is ProfileStatus.BASELINE_ERROR
        if (baseline_failed or verified.status is VerifyStatus.TASK_ERROR) and not self._is_closed:
            self._task.wait()
            with self._lease.share():
                self._task.try_alone(compiled=baseline_failed)
        return verified, profiled

    def close(self) -> None:
        """End every process, also in the middle of an `examine`, and remove the judge's own files."""
        self._is_closed = True
        if self._examined is not None:
            self._examined.close()
            self._examined = None
        self._task.forget()
        if self._warming is not None:
            self._warming.abandon(timeout_s=_END_TIMEOUT_S)
            self._task.forget()
        if self._owns_stock:
            self._stock.close()

    def _check_task(self) -> TaskResult:
        if self._task.is_open and self._task.result is not None:
            return self._task.result
        self._task.wait()
        with self._lease.share():
            result = self._task.check()
        return self._look_again_alone(self._task.check) if self._task.is_crowded_out else result

    def _check_room(self) -> TaskResult:
        result = self._task.check_room()
        return self._look_again_alone(self._task.check_room) if self._task.is_crowded_out else result

    def _look_again_alone(self, look: Callable[[], TaskResult]) -> TaskResult:
        with self._lease.take():
            return look()

    def _share_for_verifying(self) -> AbstractContextManager[None]:
        return self._lease.take() if self._task.is_large else self._lease.share()

    def _warm(self, *, profiles: bool) -> None:
        """Begun by `prewarm`: the gate, then what torch.compile builds, where no baseline is kept."""
        if self._is_closed or not self._check_task().is_judged:
            return
        if profiles and self._baseline.find() is None:
            # Where the processor is the device, it is not free for a compiler while somebody is timed.
            with self._lease.share() if self._target is Target.CPU else nullcontext():
                self._task.precompile()

    def _finish_warming(self) -> None:
        warming, self._warming = self._warming, None
        if warming is not None:
            warming.finish()

    def _load(self, artifact: Artifact, *, profile: bool, watch: Stopwatch) -> tuple[ChildProcess, int]:
        """A runner that holds the submission, and how many threads it had before.

        One that dies meanwhile may have been ended from outside, so another is tried; two show who did it.

        Raises:
            ChildError: the submission could not be loaded.
            InfrastructureError: no runner could be started.
        """
        for is_last in (False, True):
            with ExitStack() as failing:
                runner = self._examined = self._stock.take_runner()
                failing.callback(self._stock.retire, runner)
                try:
                    threads_before = self._load_on(runner, artifact, profile=profile, watch=watch)
                except (ChildError, InfrastructureError) as error:
                    if is_last or self._is_closed or not _is_death(error):
                        raise
                else:
                    failing.pop_all()
                    return runner, threads_before
        raise AssertionError("the last try returns or raises")

    def _load_on(self, runner: ChildProcess, artifact: Artifact, *, profile: bool, watch: Stopwatch) -> int:
        with watch.time("start"):
            receive_prepared(runner)
        if profile:
            with watch.time("baseline"):
                self._ensure_baseline()
        threads_before = runner.count_threads()
        with watch.time("load"):
            _load(runner, artifact)
        return threads_before

    def _open_session(self, runner: ChildProcess, threads_before: int) -> Session:
        return Session(
            self._task.child,
            runner,
            target=self._target,
            threads_before=threads_before,
            takes_turns=self._policy.has(Layer.TURNS),
        )

    def _examine_in(
        self, session: Session, *, profile: bool, watch: Stopwatch
    ) -> tuple[VerifyResult, ProfileResult | None]:
        reference = self._task.child
        try:
            with _hold(self._share_for_verifying(), watch), watch.time("verify"):
                verified = Verifier(session, self._task.opened.arguments, policy=self._policy).run()
            if not profile or verified.status is not VerifyStatus.OK:
                return verified, None
            with _hold(self._lease.take(), watch), watch.time("profile"):
                return verified, self._profile(session)
        finally:
            session.close()
            if reference.is_gone():
                self._task.forget()

    def _ensure_baseline(self) -> None:
        """Have the baselines at hand before a submission is loaded."""
        if self._baseline.find() is not None or not self._policy.keeps_baselines:
            return
        with self._lease.take(), suppress(ChildError):  # it shows again, with its reason, later
            self._baseline.measure(
                self._task.child,
                set_bytes=self._task.opened.needed_bytes,
                memory_bytes=self._task.allow_bytes() // 2,
            )

    def _profile(self, session: Session) -> ProfileResult:
        profiler = Profiler(
            session, policy=self._policy, facts=self._collect_facts(), baseline=self._baseline.find()
        )
        result = profiler.run()
        if profiler.has_drifted:
            self._baseline.forget()
        return result

    def _collect_facts(self) -> Facts:
        return Facts(
            device=self._task.prepared.device,
            versions=self._task.prepared.versions,
            copy_gb_per_s=self._task.opened.copy_gb_per_s,
            memory_bytes=self._task.allow_bytes() // 2,
        )


def _load(runner: ChildProcess, artifact: Artifact) -> None:
    folder = runner.hand_over(artifact.folder / "model_new.py").parent
    library = str(runner.hand_over(artifact.kernels)) if artifact.kernels else None
    runner.ask(Load(folder=str(folder), library=library), Done, timeout_s=_LOAD_TIMEOUT_S)


def _is_death(error: Exception) -> bool:
    """Whether a child that died is behind an error."""
    cause = error if isinstance(error, ChildError) else error.__cause__
    return isinstance(cause, ChildError) and cause.how == "crashed"


@contextmanager
def _hold(lease: AbstractContextManager[None], watch: Stopwatch) -> Iterator[None]:
    """Hold a lease, and note how long it was waited for."""
    with ExitStack() as stack:
        with watch.time("wait"):
            stack.enter_context(lease)
        yield


def _describe_refusal(result: TaskResult) -> VerifyResult:
    is_large = result.status is TaskStatus.DOES_NOT_FIT
    return VerifyResult(
        status=VerifyStatus.DOES_NOT_FIT if is_large else VerifyStatus.TASK_ERROR,
        reason=result.reason,
        detail=result.detail,
    )

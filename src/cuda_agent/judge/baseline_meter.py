"""Both baselines of a task, timed with no submission on the machine: for tables of whole suites."""

from cuda_agent.closing import Closing
from cuda_agent.judge.baseline import Baseline, count_calls, measure_baseline
from cuda_agent.judge.lease import Lease, name_device
from cuda_agent.judge.policy import JudgePolicy
from cuda_agent.judge.process import ChildError
from cuda_agent.judge.protocol import CompileMode
from cuda_agent.judge.result import TaskResult, TaskStatus
from cuda_agent.judge.stock import Stock
from cuda_agent.judge.task_process import TaskProcess
from cuda_agent.sandbox.protocol import Sandbox
from cuda_agent.tasks.target import Target
from cuda_agent.tasks.task import Task


class BaselineMeter(Closing):
    """Times one task's baselines in its own process; to be used as a context."""

    def __init__(self, task: Task, *, target: Target, sandbox: Sandbox, policy: JudgePolicy) -> None:
        """Start nothing yet."""
        self._policy = policy
        self._lease = Lease(name_device(target))
        self._stock = Stock(target, sandbox=sandbox, precision=policy.precision, runners=0)
        self._process = TaskProcess(task, target, policy=policy, start=self._stock.take_reference)

    @property
    def device(self) -> str:
        """The device's name, once the task was opened."""
        return self._process.prepared.device

    @property
    def versions(self) -> dict[str, str]:
        """Versions of what the times depend on, once the task was opened."""
        return self._process.prepared.versions

    @property
    def copy_gb_per_s(self) -> float:
        """How fast the device copies, bytes read plus bytes written, once the task was opened."""
        return self._process.opened.copy_gb_per_s

    def open(self) -> TaskResult:
        """Put the task before the gate in a fresh process, so that no mode meets what another compiled.

        Raises:
            InfrastructureError: this machine could not even start the process.
        """
        self._process.forget()
        self._process.wait()
        with self._lease.share():
            self._process.check()
            return self._process.check_room()

    def measure(self, mode: CompileMode) -> Baseline | TaskResult:
        """Eager and torch.compile in a mode, in alternating blocks, alone on the device; or why not."""
        process = self._process
        calls = count_calls(
            self._policy,
            set_bytes=process.opened.needed_bytes,
            memory_bytes=process.allow_bytes() // 2,
        )
        try:
            with self._lease.take():
                return measure_baseline(process.child, policy=self._policy, calls=calls, mode=mode)
        except ChildError as error:
            process.forget()
            reason = f"the reference could not be timed: {error.reason}"
            return TaskResult(status=TaskStatus.FAILED, reason=reason, detail=error.detail)

    def close(self) -> None:
        """End the process and remove its files."""
        self._process.forget()
        self._stock.close()

"""One try at one task of a suite: with numbers, or with a status that says why it has none."""

from enum import StrEnum

from cuda_agent.config import Record
from cuda_agent.environment.result import Evaluation, Stage
from cuda_agent.judge.policy import load_policy
from cuda_agent.judge.result import ProfileStatus, Ratio, TaskResult, TaskStatus, Timing
from cuda_agent.tasks.target import Target


class RecordStatus(StrEnum):
    """What came of a try. Only CORRECT has times; every other status counts as not passed."""

    CORRECT = "correct"
    """It went through every stage."""
    FAILED = "failed"
    """It broke the rules, did not build, or was wrong."""
    QUARANTINED = "quarantined"
    """It was right, but its times, or outputs while timed, cannot be believed."""
    UNTIMED = "untimed"
    """It was right, but timing it crashed or took too long: there is no number."""
    TASK_ERROR = "task_error"
    """The reference failed or does not fit into memory: the solution is not to blame."""
    MACHINE_ERROR = "machine_error"
    """The machine failed; trying again may help."""
    MISSING = "missing"
    """There is no solution to judge."""


class Flag(StrEnum):
    """What a reader of a number should know. A flagged record counts all the same."""

    GATE = "gate"
    """The task did not pass the task gate: its outputs say little."""
    GATE_UNKNOWN = "gate_unknown"
    """The task could not be examined here."""
    NO_COMPILE = "no_compile"
    """torch.compile cannot run the reference; eager stands in for it."""
    SLOW_COMPILE = "slow_compile"
    """torch.compile is over 5 % slower than eager: eager is the baseline to beat."""
    LOOSE_PRECISION = "loose_precision"
    """Judged under a policy that lets float32 products use TF32."""
    FIXED_TOLERANCE = "fixed_tolerance"
    """Judged within a fixed tolerance, not one calibrated to the task."""
    WIDE_INTERVAL = "wide_interval"
    """The speed-up's interval reaches from below to above the 5 % rule."""
    WASTEFUL_REFERENCE = "wasteful_reference"
    """Eager takes over 10 times the floor, or a cheaper form gives the same: that may explain a speed-up."""


class BenchRecord(Record):
    """One try at one task by one policy."""

    task_id: str
    """The task's readable id, by which everything is joined."""
    place: str
    """Where the task is in its suite, such as `level1/10_name`; its id when it is in none."""
    level: int = 0
    """Its level; 0 where the suite has none."""
    problem: int = 0
    """Its number within the level; 0 where it has none."""
    number: int = 0
    """Which of the task's tries this is, from 0."""
    policy: str
    """Who made the solution."""
    judge: str
    """The judge policy, `strict` or `paper`, also where nothing came to be judged."""
    target: Target
    """Where it ran."""
    status: RecordStatus
    """What came of it."""
    verdict: str = ""
    """The judge's verdict: `ok`, or the failed stage and its status."""
    reason: str = ""
    """One sentence, unless it is CORRECT."""
    over_eager: Ratio | None = None
    """Speed-up over eager; set when CORRECT."""
    over_compiled: Ratio | None = None
    """Speed-up over torch.compile, or over eager where the reference does not compile; set when CORRECT."""
    candidate_ms: float | None = None
    """Median time of a call; set when CORRECT."""
    eager_ms: float | None = None
    """The same of the reference in eager mode."""
    compiled_ms: float | None = None
    """The same under torch.compile; None where it does not compile."""
    floor_ms: float | None = None
    """Least time by bytes and, where they are known, operations; None where it is not known."""
    flags: tuple[Flag, ...] = ()
    """What a reader should know."""
    submission_sha: str = ""
    """Content hash of what was judged."""
    solution: str = ""
    """Where a solution made elsewhere was found."""
    gate_reason: str = ""
    """Why the gate refuses the task, if it does."""
    notes: tuple[str, ...] = ()
    """What the judge's gate says of a task that it lets through."""
    device: str = ""
    """The device's name."""
    versions: dict[str, str] = {}
    """Versions of torch, driver, runtime."""
    method: str = ""
    """How it was timed."""

    @property
    def is_correct(self) -> bool:
        """Whether it passed every stage."""
        return self.status is RecordStatus.CORRECT

    @property
    def share_of_floor(self) -> float | None:
        """How near it comes to the speed of light: floor over time, 1 at the floor."""
        if self.floor_ms is None or self.candidate_ms is None:
            return None
        return self.floor_ms / self.candidate_ms


_WASTEFUL = 10.0
_MARGIN = 1.0 / 0.95
_QUARANTINE = (
    ProfileStatus.WRONG_WHEN_TIMED,
    ProfileStatus.CLOCK_DISPUTED,
    ProfileStatus.BELOW_ROOFLINE,
    ProfileStatus.FORBIDDEN,
)


def build_record(
    evaluation: Evaluation, *, place: str = "", level: int = 0, problem: int = 0, number: int = 0, policy: str
) -> BenchRecord:
    """What an evaluation says about one try; its task's id comes from the evaluation itself."""
    status = find_status(evaluation)
    record = BenchRecord(
        task_id=evaluation.task_id,
        place=place or evaluation.task_id,
        level=level,
        problem=problem,
        number=number,
        policy=policy,
        judge=evaluation.policy,
        target=evaluation.target,
        status=status,
        verdict=evaluation.verdict,
        reason=evaluation.reason,
        submission_sha=evaluation.submission_sha,
        flags=list_task_flags(evaluation.task),
        gate_reason=evaluation.task.reason if evaluation.task else "",
        notes=evaluation.task.flags if evaluation.task else (),
    )
    return _add_times(record, evaluation) if status is RecordStatus.CORRECT else record


def list_task_flags(task: TaskResult | None) -> tuple[Flag, ...]:
    """What the judge's gate says of a task, as flags."""
    if task is None:
        return ()
    found = {
        Flag.GATE: task.status is TaskStatus.FAULTY,
        Flag.GATE_UNKNOWN: task.status in (TaskStatus.FAILED, TaskStatus.DOES_NOT_FIT),
        Flag.WASTEFUL_REFERENCE: bool(task.cheaper_form),
    }
    return tuple(flag for flag in Flag if found.get(flag))


def find_status(evaluation: Evaluation) -> RecordStatus:
    """What an evaluation amounts to."""
    stage, profiled = evaluation.failed_stage, evaluation.profile
    if evaluation.is_task_at_fault:
        return RecordStatus.TASK_ERROR
    if stage is None:
        return RecordStatus.UNTIMED if profiled is None else RecordStatus.CORRECT
    if stage is not Stage.PROFILE or profiled is None:
        return RecordStatus.FAILED
    return RecordStatus.QUARANTINED if profiled.status in _QUARANTINE else RecordStatus.UNTIMED


def _add_times(record: BenchRecord, evaluation: Evaluation) -> BenchRecord:
    profile = evaluation.profile
    assert profile is not None
    assert profile.over_eager is not None
    changed: dict[str, object] = {
        "over_eager": profile.over_eager,
        "over_compiled": profile.over_compiled or profile.over_eager,
        "candidate_ms": _read_ms(profile.candidate),
        "eager_ms": _read_ms(profile.eager),
        "compiled_ms": _read_ms(profile.compiled),
        "floor_ms": profile.floor_ms or None,
        "device": profile.device,
        "versions": profile.versions,
        "method": profile.method,
    }
    timed = record.model_copy(update=changed)
    return add_flags(timed, *_list_flags(timed))


def add_flags(record: BenchRecord, *flags: Flag) -> BenchRecord:
    """The record with these flags too, each once, in the order of their enumeration."""
    present = {*record.flags, *flags}
    return record.model_copy(update={"flags": tuple(flag for flag in Flag if flag in present)})


def _list_flags(record: BenchRecord) -> list[Flag]:
    policy = load_policy(record.judge)
    ratios = [ratio for ratio in (record.over_eager, record.over_compiled) if ratio is not None]
    eager_ms, compiled_ms = record.eager_ms or 0.0, record.compiled_ms
    found = {
        Flag.NO_COMPILE: compiled_ms is None,
        Flag.SLOW_COMPILE: compiled_ms is not None and compiled_ms > _MARGIN * eager_ms,
        Flag.LOOSE_PRECISION: policy.precision.value != "highest",
        Flag.FIXED_TOLERANCE: policy.tolerance.value == "fixed",
        Flag.WIDE_INTERVAL: any(ratio.low <= _MARGIN < ratio.high for ratio in ratios),
        Flag.WASTEFUL_REFERENCE: record.floor_ms is not None and eager_ms > _WASTEFUL * record.floor_ms,
    }
    return [flag for flag, is_so in found.items() if is_so]


def _read_ms(timing: Timing | None) -> float | None:
    return None if timing is None else timing.median_ms

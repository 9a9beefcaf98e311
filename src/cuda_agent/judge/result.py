"""What the judge found: records with a status and a reason, never an exception."""

from enum import StrEnum

from cuda_agent.config import Record


class TaskStatus(StrEnum):
    """What the gate says of a task."""

    OK = "ok"
    """Worth judging."""
    FLAGGED = "flagged"
    """Judged; whoever reads its figures should know the flags."""
    FAULTY = "faulty"
    """Not worth judging: it can be answered without computing, or has no one answer."""
    FAILED = "failed"
    """The reference itself fails."""
    DOES_NOT_FIT = "does_not_fit"
    """It needs more memory than this machine has."""


class TaskResult(Record):
    """Is the task worth judging: found once for a task, before any submission is loaded."""

    status: TaskStatus = TaskStatus.OK
    """What the gate says."""
    reason: str = ""
    """One sentence; empty where the task is judged."""
    detail: str = ""
    """The lines that matter, where the reference fails."""
    flags: tuple[str, ...] = ()
    """What whoever reads its figures should know."""
    cheaper_form: str = ""
    """An algebraically equal, cheaper form of a wasteful reference; empty where none is known."""
    cheaper_gain: float = 1.0
    """How many times faster than the reference the cheaper form is, in eager."""

    @property
    def is_judged(self) -> bool:
        """Whether submissions to the task are judged at all."""
        return self.status in (TaskStatus.OK, TaskStatus.FLAGGED)


class VerifyStatus(StrEnum):
    """How verification ended."""

    OK = "ok"
    """Every hidden draw matched."""
    MISMATCH = "mismatch"
    """A value differs by more than the tolerance."""
    NON_FINITE = "non_finite"
    """NaN or infinity where the reference has none, or the other way round."""
    WRONG_STRUCTURE = "wrong_structure"
    """Another nesting, or something that is not a plain tensor."""
    WRONG_SHAPE = "wrong_shape"
    """Another shape."""
    WRONG_DTYPE = "wrong_dtype"
    """Another dtype."""
    LOAD_ERROR = "load_error"
    """Importing the submission raised."""
    CONSTRUCTOR_ERROR = "constructor_error"
    """ModelNew is missing, or its constructor does not take the reference's arguments."""
    WEIGHTS_ERROR = "weights_error"
    """Parameters or buffers that it keeps do not fit the reference's."""
    FORWARD_ERROR = "forward_error"
    """forward raised, or the device reported an error."""
    INPUTS_CHANGED = "inputs_changed"
    """forward wrote to inputs that the reference leaves alone."""
    FORBIDDEN = "forbidden"
    """forward did something at run time that the rules forbid."""
    CRASHED = "crashed"
    """The runner died (segmentation fault, abort, out of memory, early exit)."""
    TIMED_OUT = "timed_out"
    """No answer in time."""
    DOES_NOT_FIT = "does_not_fit"
    """The task needs more memory than this machine has."""
    TASK_ERROR = "task_error"
    """The reference itself failed: the task, not the submission, is at fault."""


class Mismatch(Record):
    """The first element that differs, and how widespread the difference is."""

    output: str
    """Which output, as a path into the structure, such as `out[1]`."""
    index: tuple[int, ...]
    """Position of the first differing element."""
    got: float
    """The submission's value there."""
    expected: float
    """The reference's value there, in float64."""
    tolerance: float
    """Largest allowed absolute difference there."""
    differing: int
    """How many elements differ by more than their tolerance."""
    total: int
    """How many elements there are."""


class VerifyResult(Record):
    """Is it right."""

    status: VerifyStatus
    """How it ended."""
    reason: str = ""
    """One sentence a person or a model can act on; empty when OK."""
    detail: str = ""
    """The lines that matter: a traceback's end, a signal's name."""
    mismatch: Mismatch | None = None
    """Set exactly when the status is MISMATCH or NON_FINITE."""
    draws: int = 0
    """How many hidden draws were compared and passed."""
    max_error: float = 0.0
    """Largest error seen over the passed draws, as a fraction of its tolerance (1 = at the limit)."""


class ProfileStatus(StrEnum):
    """How profiling ended."""

    OK = "ok"
    """Times that can be trusted."""
    WRONG_WHEN_TIMED = "wrong_when_timed"
    """An output sampled from the timed calls was wrong."""
    CLOCK_DISPUTED = "clock_disputed"
    """The runner's own times do not agree with the judge's clock."""
    BELOW_ROOFLINE = "below_roofline"
    """Faster than this device can move the task's bytes: quarantined."""
    FORBIDDEN = "forbidden"
    """forward broke a rule in a call that looked like a timed one."""
    CRASHED = "crashed"
    """The runner died."""
    FAILED = "failed"
    """forward raised while timed."""
    TIMED_OUT = "timed_out"
    """No answer in time."""
    BASELINE_ERROR = "baseline_error"
    """A baseline could not be timed beside it; where it cannot alone, the task is at fault, and says so."""


class Timing(Record):
    """Times of one contestant, in milliseconds, in the order they were taken."""

    median_ms: float
    """Median over all calls."""
    calls_ms: tuple[float, ...]
    """Every timed call."""


class Ratio(Record):
    """How many times faster the candidate is than one baseline."""

    point: float
    """Ratio of medians, baseline over candidate."""
    low: float
    """Lower end of the bootstrap interval."""
    high: float
    """Upper end of the bootstrap interval."""


class ProfileResult(Record):
    """How fast is it."""

    status: ProfileStatus
    """How it ended."""
    reason: str = ""
    """One sentence a person or a model can act on; empty when OK."""
    detail: str = ""
    """The lines that matter."""
    candidate: Timing | None = None
    """The submission's times; set when OK."""
    eager: Timing | None = None
    """The reference's times as it stands."""
    compiled: Timing | None = None
    """The reference's times under torch.compile; None with OK when it does not compile."""
    over_eager: Ratio | None = None
    """Speed-up over eager; set when OK."""
    over_compiled: Ratio | None = None
    """Speed-up over torch.compile; None with OK when it does not compile."""
    compiled_measured: str = ""
    """Where torch.compile's times are kept ones, when they were taken; `over_compiled` then follows from
    `over_eager` and the ratio of both baselines at that time. Empty: they were taken here."""
    compile_error: str = ""
    """Why torch.compile could not run the reference, if it could not."""
    sampled: int = 0
    """How many timed outputs were compared."""
    wall_ms: float = 0.0
    """The judge's own estimate of one candidate call, from the slope over K and 2K calls."""
    floor_ms: float = 0.0
    """Least time this device needs to read the inputs and weights and write the outputs."""
    device: str = ""
    """The device's name, with core or multiprocessor count."""
    versions: dict[str, str] = {}
    """Versions of torch, driver, runtime."""
    method: str = ""
    """Timer, number of calls and blocks, flush, threads: enough to read the number."""

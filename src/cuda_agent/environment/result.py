"""Evaluation: what was found about one submission, stage by stage."""

from enum import StrEnum

from cuda_agent.config import Record
from cuda_agent.judge.result import ProfileResult, ProfileStatus, TaskResult, VerifyResult, VerifyStatus
from cuda_agent.tasks.target import Target


class Stage(StrEnum):
    """The stages of an evaluation, in order; each needs the one before."""

    RULES = "rules"
    """Files, imports, calls and includes are allowed ones."""
    BUILD = "build"
    """The kernels compile, link, and need only allowed symbols."""
    VERIFY = "verify"
    """Hidden draws match the reference."""
    PROFILE = "profile"
    """Times against eager and torch.compile."""


class RulesStatus(StrEnum):
    """How the rules check ended."""

    OK = "ok"
    """Nothing forbidden."""
    BAD_FILES = "bad_files"
    """Missing, linked, oversized or undecodable files."""
    SYNTAX_ERROR = "syntax_error"
    """model_new.py does not parse."""
    VIOLATION = "violation"
    """A forbidden import, call, include or symbol."""


class Violation(Record):
    """One broken rule."""

    file: str
    """Path within the submission."""
    line: int
    """1-based line; 0 when it has none (a symbol of the built library)."""
    rule: str
    """The rule's short name."""
    reason: str
    """Why the rule is there and what to do instead."""


class RulesResult(Record):
    """Did the submission keep the rules."""

    status: RulesStatus
    """How it ended."""
    reason: str = ""
    """One sentence; empty when OK."""
    violations: tuple[Violation, ...] = ()
    """Every broken rule found."""


class BuildStatus(StrEnum):
    """How the build ended."""

    OK = "ok"
    """A library."""
    NO_KERNELS = "no_kernels"
    """No source to build: model_new.py has no kernels of its own."""
    COMPILE_ERROR = "compile_error"
    """The compiler rejected a source."""
    MISSING_HEADER = "missing_header"
    """An include was not found."""
    LINK_ERROR = "link_error"
    """The linker failed."""
    FORBIDDEN_SYMBOL = "forbidden_symbol"
    """The library needs a symbol that is not allowed."""
    OUT_OF_MEMORY = "out_of_memory"
    """The compiler ran out of memory."""
    TIMED_OUT = "timed_out"
    """The compiler did not end in time."""
    DISK_FULL = "disk_full"
    """No room for the build."""


class BuildResult(Record):
    """Did it build."""

    status: BuildStatus
    """How it ended."""
    reason: str = ""
    """One sentence; empty when OK."""
    error_lines: str = ""
    """The first error with its line of source."""
    log: str = ""
    """The compiler's whole output."""
    violations: tuple[Violation, ...] = ()
    """Forbidden symbols, when that is the status."""
    functions: tuple[str, ...] = ()
    """Exported functions, as `kernels.<name>`."""
    duration_s: float = 0.0
    """Seconds spent building."""


class Evaluation(Record):
    """What was found about one submission. A stage that was not reached is None; a reached one never."""

    task_id: str
    """The task's readable id."""
    submission_sha: str
    """Content hash of the submission."""
    target: Target
    """Where it ran."""
    policy: str
    """Which judge policy (`strict` or `paper`)."""
    task: TaskResult | None = None
    """What the gate says of the task, if stage 2 passed and stage 3 was asked for."""
    rules: RulesResult
    """Stage 1."""
    build: BuildResult | None = None
    """Stage 2, if stage 1 passed."""
    verify: VerifyResult | None = None
    """Stage 3, if stage 2 passed and it was asked for."""
    profile: ProfileResult | None = None
    """Stage 4, if stage 3 passed and it was asked for."""
    seconds: dict[str, float] = {}
    """Wall-clock seconds of each stage that ran, by its name, and of what the judge did besides: `open` the
    task, `start` a runner, `load` the submission, measure a `baseline`, `wait` for the device."""

    @property
    def failed_stage(self) -> Stage | None:
        """The stage that failed, or None."""
        if self.rules.status is not RulesStatus.OK:
            return Stage.RULES
        if self.build is not None and self.build.status is not BuildStatus.OK:
            return Stage.BUILD
        if self.verify is not None and self.verify.status is not VerifyStatus.OK:
            return Stage.VERIFY
        if self.profile is not None and self.profile.status is not ProfileStatus.OK:
            return Stage.PROFILE
        return None

    @property
    def is_task_at_fault(self) -> bool:
        """Whether nothing was found about the submission, because its task is not judged."""
        return self.task is not None and not self.task.is_judged

    @property
    def verdict(self) -> str:
        """The failed stage and its status, such as `verify:mismatch`, or `ok`."""
        stage = self.failed_stage
        return "ok" if stage is None else f"{stage.value}:{getattr(self, stage.value).status.value}"

    @property
    def reason(self) -> str:
        """The failed stage's reason, or an empty string."""
        stage = self.failed_stage
        return "" if stage is None else getattr(self, stage.value).reason

"""From a submission to an Evaluation: rules, build, verify, profile, up to the first that fails."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from cuda_agent.environment.build import build_submission
from cuda_agent.environment.build_cache import BuildCache
from cuda_agent.environment.foreign import unfold_foreign
from cuda_agent.environment.result import (
    BuildResult,
    BuildStatus,
    Evaluation,
    RulesResult,
    RulesStatus,
    Stage,
)
from cuda_agent.environment.rules import check_rules
from cuda_agent.environment.submission import Submission
from cuda_agent.judge.judge import Artifact, Judge
from cuda_agent.judge.policy import JudgePolicy, Layer
from cuda_agent.judge.result import ProfileResult, TaskResult, VerifyResult
from cuda_agent.judge.stock import Stock
from cuda_agent.judge.stopwatch import Stopwatch
from cuda_agent.sandbox.protocol import Sandbox
from cuda_agent.scratch import temporary_folder
from cuda_agent.tasks.target import Target
from cuda_agent.tasks.task import Task

OnStage = Callable[[Stage], None]


@dataclass(frozen=True, kw_only=True)
class Setting:
    """What a submission is evaluated against."""

    task: Task
    """The reference."""
    target: Target
    """Where kernels run."""
    sandbox: Sandbox
    """How untrusted commands are contained."""
    policy: JudgePolicy
    """How strictly it is judged."""
    cache: BuildCache | None = None
    """Where builds are kept; None: each submission is built anew."""

    def open_judge(self, stock: Stock | None = None) -> Judge:
        """A judge for this setting, for any number of submissions; to be used as a context.

        It takes its runners from `stock`, or has one of its own.
        """
        return Judge(self.task, target=self.target, sandbox=self.sandbox, policy=self.policy, stock=stock)


def evaluate(
    submission: Submission,
    *,
    setting: Setting,
    judge: Judge,
    until: Stage = Stage.PROFILE,
    on_stage: OnStage = lambda _stage: None,
) -> Evaluation:
    """Take a submission through the stages up to `until`, or up to the first that fails.

    `on_stage` hears of each stage that begins; verify and profile are one visit to the judge, and are
    heard of as the later one that was asked for.

    Raises:
        ToolchainError: this machine lacks a compiler for the target.
        InfrastructureError: the judge could not start its processes.
    """
    with temporary_folder("artifact-") as folder:
        course = _Course(unfold_foreign(submission), setting, folder=folder, on_stage=on_stage)
        examines = until not in (Stage.RULES, Stage.BUILD)
        if examines:
            judge.prewarm(profiles=until is Stage.PROFILE)
        if course.check() and until is not Stage.RULES and course.build() and examines:
            course.examine(judge, profile=until is Stage.PROFILE)
    return Evaluation(
        task_id=setting.task.task_id,
        submission_sha=submission.sha,
        target=setting.target,
        policy=setting.policy.name,
        task=course.task,
        rules=course.rules,
        build=course.built,
        verify=course.verified,
        profile=course.profiled,
        seconds=course.seconds,
    )


class _Course:
    """One submission on its way through the stages."""

    def __init__(self, submission: Submission, setting: Setting, *, folder: Path, on_stage: OnStage) -> None:
        self._submission = submission
        self._setting = setting
        self._folder = folder
        self._on_stage = on_stage
        self._library: Path | None = None
        self.task: TaskResult | None = None
        self.rules: RulesResult = RulesResult(status=RulesStatus.OK)
        self.built: BuildResult | None = None
        self.verified: VerifyResult | None = None
        self.profiled: ProfileResult | None = None
        self._watch = Stopwatch()

    def check(self) -> bool:
        """The rules; whether they were kept."""
        with self._timed(Stage.RULES):
            if self._setting.policy.has(Layer.RULES):
                self.rules = check_rules(self._submission, self._setting.target)
        return self.rules.status is RulesStatus.OK

    def build(self) -> bool:
        """The library; whether there is one."""
        with self._timed(Stage.BUILD):
            cache = self._setting.cache
            build = cache.build if cache else build_submission
            self.built, self._library = build(
                self._submission,
                target=self._setting.target,
                sandbox=self._setting.sandbox,
                folder=self._folder,
                check_library=self._setting.policy.has(Layer.SYMBOLS),
            )
        return self.built.status is BuildStatus.OK

    def examine(self, judge: Judge, *, profile: bool) -> None:
        """Verify and, where asked for, profile: one visit to the judge."""
        self._on_stage(Stage.PROFILE if profile else Stage.VERIFY)
        self._submission.write_to(self._folder)
        artifact = Artifact(folder=self._folder, kernels=self._library)
        self.verified, self.profiled = judge.examine(artifact, profile=profile, watch=self._watch)
        self.task = judge.task_result

    @contextmanager
    def _timed(self, stage: Stage) -> Iterator[None]:
        self._on_stage(stage)
        with self._watch.time(stage.value):
            yield

    @property
    def seconds(self) -> dict[str, float]:
        """Where the time went."""
        return self._watch.seconds

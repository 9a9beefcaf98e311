"""What an agent acts in: a workspace, the judge behind its commands, and a record of what it submits."""

import logging
import threading
from contextlib import ExitStack, nullcontext
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from cuda_agent.atomic import write_whole
from cuda_agent.environment.admission import Admission
from cuda_agent.environment.beneath import write_file_beneath
from cuda_agent.environment.build_cache import find_build_cache
from cuda_agent.environment.channel import Answer, Channel
from cuda_agent.environment.client import CHANNEL_VARIABLE, WRONG_USE
from cuda_agent.environment.elsewhere import Elsewhere
from cuda_agent.environment.evaluate import Setting, evaluate
from cuda_agent.environment.inspection import Inspection, inspect
from cuda_agent.environment.pause import Company
from cuda_agent.environment.render import RewardLine, render_evaluation
from cuda_agent.environment.result import Evaluation, Stage
from cuda_agent.environment.submission import Submission, freeze_submission
from cuda_agent.environment.workspace import Workspace, lay_workspace
from cuda_agent.errors import InfrastructureError, UserError
from cuda_agent.judge.judge import Judge
from cuda_agent.judge.policy import JudgePolicy
from cuda_agent.printable import make_lines_printable
from cuda_agent.sandbox.protocol import Command, Mount, Sandbox
from cuda_agent.scratch import temporary_folder
from cuda_agent.tasks.target import Target
from cuda_agent.tasks.task import Task

STAGE_OF_VERB = {"build": Stage.BUILD, "verify": Stage.VERIFY, "profile": Stage.PROFILE}
SUBMIT = "submit"
INSPECT = "inspect "
MEASURED = ("verify", "profile", SUBMIT, "inspect counters", "inspect kernels")
"""Verbs whose answer depends on what else the machine does."""
SUBMISSIONS = "submissions"
INSPECTIONS = "inspections"
"""Where in the workspace the whole reports are."""
EVALUATION_FILE = "evaluation.json"

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Judged:
    """One submission that counted."""

    submission: Submission
    """Its files."""
    evaluation: Evaluation
    """What was found."""


class Environment:
    """One task laid out for one agent. Use it as a context: leaving it ends everything it started."""

    def __init__(
        self,
        task: Task,
        *,
        target: Target,
        sandbox: Sandbox,
        policy: JudgePolicy,
        folder: Path,
        admission: Admission | Elsewhere | None = None,
    ) -> None:
        """`folder` keeps the submissions, under `submissions/<sha>/`, with their evaluations.

        Several environments at once share an `admission`, so that their judges do not crowd the machine, or
        have their submissions evaluated elsewhere.
        """
        self.setting = Setting(
            task=task, target=target, sandbox=sandbox, policy=policy, cache=find_build_cache()
        )
        """What submissions are evaluated against."""
        self.company = Company()
        """The agent's commands; whoever runs them starts them here, so that the judge can hold them still."""
        self._folder = folder
        self._judged: list[Judged] = []
        # The judge serves one submission at a time, whether a command or the episode asks.
        self._lock = threading.Lock()
        self._stack = ExitStack()
        self._elsewhere = admission if isinstance(admission, Elsewhere) else None
        self._admission = admission if isinstance(admission, Admission) else Admission(1)
        self._is_closed = False

    def __enter__(self) -> Self:
        """Lay the workspace and start listening to its commands."""
        with ExitStack() as stack:
            place = stack.enter_context(temporary_folder("agent-")).resolve()
            # Other users' processes must be able to pass through to what is mounted for them.
            place.chmod(0o711)
            self._workspace = lay_workspace(
                self.setting.task, target=self.setting.target, root=place / "workspace"
            )
            self._judge: Judge = self.setting.open_judge()
            stack.callback(self._close)
            if self._elsewhere is None and self._admission.claim(self):
                self._judge.prewarm()
            self._channel = stack.enter_context(Channel(place / "judge.sock", self._serve))
            # On leaving, a command that is being judged loses its judge rather than being waited for;
            # the judge is closed again after it, whatever the command has started in between.
            stack.callback(self._close)
            stack.callback(self._channel.stop)
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop listening, end the judge, remove the workspace; what was submitted stays in the folder."""
        self._stack.close()

    @property
    def workspace(self) -> Workspace:
        """The agent's folder."""
        return self._workspace

    @property
    def shell(self) -> Command:
        """How the agent's commands run: complete but for `argv` and limits.

        They never see the GPU: it belongs to the judge, and its times must not depend on the agent.
        """
        return Command(
            argv=(),
            cwd=self._workspace.root,
            mounts=(*self._workspace.mounts, Mount(path=self._channel.path)),
            env={CHANNEL_VARIABLE: str(self._channel.path)},
        )

    @property
    def submissions(self) -> tuple[Judged, ...]:
        """Every judged submission, in order."""
        return tuple(self._judged)

    def evaluate(self, until: Stage = Stage.PROFILE) -> Evaluation:
        """Evaluate the workspace as it stands; it does not count."""
        return self.judge_again(freeze_submission(self._workspace.root), until=until)

    def submit(self) -> Evaluation:
        """Evaluate the workspace as it stands, with new seeds, and keep it as a submission."""
        submission = freeze_submission(self._workspace.root)
        place = self._folder / SUBMISSIONS / submission.sha
        # Written before it is judged, so that a crash of the judge does not lose it.
        submission.write_to(place)
        evaluation = self.judge_again(submission)
        # Another episode may hand in the same files at this moment: the file is replaced as a whole.
        write_whole(place / EVALUATION_FILE, evaluation.model_dump_json(indent=1))
        self._judged.append(Judged(submission, evaluation))
        return evaluation

    def judge_again(self, submission: Submission, *, until: Stage = Stage.PROFILE) -> Evaluation:
        """Evaluate any submission afresh, with new seeds; it does not count."""
        if self._elsewhere is not None:
            return self._elsewhere.evaluate(submission, setting=self.setting, until=until)
        with self._lock, self._admission.enter(self):
            if self._is_closed:
                raise InfrastructureError("the environment was closed before the judge had time")
            return evaluate(submission, setting=self.setting, judge=self._judge, until=until)

    def cool(self) -> bool:
        """End the judge's processes unless it is at work; the next evaluation starts them again."""
        if not self._lock.acquire(blocking=False):
            return False
        try:
            self._judge.close()
            if not self._is_closed:
                self._judge = self.setting.open_judge()
        finally:
            self._lock.release()
        return True

    def _close(self) -> None:
        """End the judge for good, also in the middle of its work."""
        self._is_closed = True
        self._admission.leave(self)
        self._judge.close()

    def inspect(self, what: Inspection) -> Answer:
        """Look at the workspace as it stands, once it builds; the whole report goes into the workspace."""
        if self._elsewhere is not None:
            refused = "submissions are evaluated on other machines here, which do not inspect them"
            return Answer(WRONG_USE, f"inspect {what.value}: {refused}; use verify and profile")
        evaluation = self.evaluate(Stage.BUILD)
        if evaluation.failed_stage is not None:
            return Answer(1, render_evaluation(evaluation, reward_line=RewardLine.NONE))
        submission = freeze_submission(self._workspace.root)
        try:
            with self._lock, self._admission.enter(self):
                found = inspect(what, submission, setting=self.setting)
        except UserError as error:
            return Answer(WRONG_USE, make_lines_printable(f"inspect {what.value}: {error}"))
        place = f"{INSPECTIONS}/{what.value}.txt"
        write_file_beneath(self._workspace.root, place, data=found.report.encode("utf-8", "replace"))
        return Answer(0, make_lines_printable(f"{found.summary}\n[all of it: {place}]"))

    def answer(self, verb: str) -> Answer:
        """Do what the workspace's command of that name does: what it prints, and its exit status."""
        if verb.startswith(INSPECT):
            return self.inspect(Inspection(verb.removeprefix(INSPECT)))
        evaluation = self.submit() if verb == SUBMIT else self.evaluate(STAGE_OF_VERB[verb])
        line = {"profile": RewardLine.PREVIEW, SUBMIT: RewardLine.FINAL}.get(verb, RewardLine.NONE)
        passed = evaluation.failed_stage is None
        return Answer(0 if passed else 1, render_evaluation(evaluation, reward_line=line))

    def _serve(self, verb: str, peer: int) -> Answer:
        """Answer one command of the workspace; while it is measured, all others there are held still."""
        with self.company.judged(), self.company.still(peer) if verb in MEASURED else nullcontext():
            return self.answer(verb)

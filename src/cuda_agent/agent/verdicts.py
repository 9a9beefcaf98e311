"""Verdicts that are kept: the same files for the same task are judged once, by all runs that share a folder.

A policy that has learnt something repeats itself, and on a small machine judging takes longer than all else
in training. The price: a lucky measurement stays lucky, and what counts in the end is what the agent was
told. So this is for training, and not for results.
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from cuda_agent.atomic import write_whole
from cuda_agent.environment.admission import Admission, Judging
from cuda_agent.environment.build_cache import LASTING
from cuda_agent.environment.environment import Environment
from cuda_agent.environment.result import Evaluation, Stage
from cuda_agent.environment.submission import Submission
from cuda_agent.errors import InfrastructureError
from cuda_agent.judge.result import VerifyStatus
from cuda_agent.tasks.task import Task

FLEETING = (
    VerifyStatus.CRASHED,
    VerifyStatus.TIMED_OUT,
    VerifyStatus.DOES_NOT_FIT,
    VerifyStatus.TASK_ERROR,
)
"""How a verification ends that may end otherwise the next time."""

TRIES = 3
"""How often the judge is asked where the machine may have decided: on a busy one honest clocks disagree."""


class Verdicts:
    """Evaluations by task and submission, in a folder that any number of runs may use at once."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @contextmanager
    def claim(self, name: str) -> Iterator[Evaluation | None]:
        """What is kept under a name; whoever else claims it waits until the first one is through.

        Raises:
            InfrastructureError: the folder cannot be written to.
        """
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            lock = os.open(self._folder / f"{name}.lock", os.O_RDONLY | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise InfrastructureError(f"verdicts cannot be kept in {self._folder}: {error}") from error
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield self._find(name)
        finally:
            os.close(lock)

    def keep(self, name: str, evaluation: Evaluation) -> None:
        """Keep it, if the next time would end likewise."""
        if is_lasting(evaluation):
            write_whole(self._folder / f"{name}.json", evaluation.model_dump_json())

    def _find(self, name: str) -> Evaluation | None:
        try:
            return Evaluation.model_validate_json((self._folder / f"{name}.json").read_bytes())
        except (OSError, ValidationError):
            return None


class RememberingEnvironment(Environment):
    """An environment that asks its judge only for what no run before it has found out."""

    def __init__(self, task: Task, *, verdicts: Verdicts, **other: Any) -> None:  # noqa: ANN401
        """`other` is what an Environment takes."""
        super().__init__(task, **other)
        self._verdicts = verdicts

    def judge_again(self, submission: Submission, *, until: Stage = Stage.PROFILE) -> Evaluation:
        """What is kept of these files, or a fresh evaluation, which is kept then."""
        if submission.problems:
            return super().judge_again(submission, until=until)
        setting = self.setting
        name = f"{setting.task.task_id}-{submission.sha}-{setting.target}-{setting.policy.name}-{until}"
        with self._verdicts.claim(name) as found:
            if found is None:
                found = self._judge_surely(submission, until=until)
                self._verdicts.keep(name, found)
        return found

    def _judge_surely(self, submission: Submission, *, until: Stage) -> Evaluation:
        """The first evaluation that the machine did not decide, or the last one tried."""
        for _ in range(TRIES - 1):
            found = super().judge_again(submission, until=until)
            if is_lasting(found) or found.is_task_at_fault:
                return found
        return super().judge_again(submission, until=until)


class LateAdmission(Admission):
    """Lets nobody warm a judge before it is asked: most episodes may not need one."""

    def claim(self, owner: Judging) -> bool:
        """Never."""
        return False


def build_admission(verdicts: Path | None) -> Admission:
    """How many judges may work at once, and whether they are warmed for whoever may come."""
    return LateAdmission() if verdicts else Admission()


def is_lasting(evaluation: Evaluation) -> bool:
    """Whether the same files would be judged alike: neither the machine's state nor a clock decided."""
    if evaluation.is_task_at_fault:
        return False
    match evaluation.failed_stage:
        case Stage.BUILD:
            return evaluation.build is not None and evaluation.build.status in LASTING
        case Stage.VERIFY:
            return evaluation.verify is not None and evaluation.verify.status not in FLEETING
        case Stage.PROFILE:
            return False
        case _:
            return True

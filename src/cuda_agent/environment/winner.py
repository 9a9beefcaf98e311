"""Which submission of a run, or of a folder, is the one to keep."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from cuda_agent.environment.environment import EVALUATION_FILE, SUBMISSIONS
from cuda_agent.environment.evaluate import Setting, evaluate
from cuda_agent.environment.result import Evaluation
from cuda_agent.environment.reward import RewardKind, compute_reward
from cuda_agent.environment.submission import Submission, freeze_submission
from cuda_agent.errors import UserError
from cuda_agent.judge.policy import load_policy
from cuda_agent.rundir import read_saved_config
from cuda_agent.tasks.task import Task

EVALUATIONS = "evaluations"
"""Where a run keeps, for each task, the evaluation that counts: that of its best episode."""


@dataclass(frozen=True)
class Winner:
    """A verified submission and what is known of it."""

    task: Task
    """The reference."""
    submission: Submission
    """The files."""
    evaluation: Evaluation
    """What the judge found; no stage failed."""


def find_winner(run: Path, name: str | None = None) -> Winner:
    """The best verified submission of a run's task: by reward, then by speed-up.

    `name` is the task's name or id; it may be left out where only one task was verified. Evaluations that
    count come first; a run that was broken off has only those of its submissions.

    Raises:
        UserError: the run has no such task, or nothing of it was verified, or there are several tasks.
    """
    tasks = {task.task_id: task for task in _load_tasks(run)}
    if name is not None:
        tasks = {key: task for key, task in tasks.items() if name in (key, task.name)}
    if not tasks:
        raise UserError(f"{run} has no task {name!r}; look at the names in its config.json")
    best: dict[str, Evaluation] = {}
    for evaluation in _iterate_evaluations(run):
        known = best.get(evaluation.task_id)
        if evaluation.task_id in tasks and (known is None or _rank(evaluation) > _rank(known)):
            best[evaluation.task_id] = evaluation
    verified = {key: found for key, found in best.items() if _rank(found)[0] > 0}
    if not verified:
        raise UserError(
            f"{run} has no verified submission for {', '.join(tasks)}: there is nothing to export"
        )
    if len(verified) > 1:
        raise UserError(f"{run} has several verified tasks; choose one with --task: {', '.join(verified)}")
    ((key, evaluation),) = verified.items()
    submission = freeze_submission(run / SUBMISSIONS / evaluation.submission_sha)
    if submission.sha != evaluation.submission_sha:
        raise UserError(f"the files of submission {evaluation.submission_sha} in {run} were changed since")
    return Winner(tasks[key], submission, evaluation)


def _load_tasks(run: Path) -> list[Task]:
    config = read_saved_config(run)["config"]
    try:
        return [Task.model_validate(task) for task in config.get("tasks", [])]
    except (ValidationError, TypeError) as error:
        raise UserError(
            f"{run} names no tasks in its config.json: it was written by another version"
        ) from error


def _iterate_evaluations(run: Path) -> Iterator[Evaluation]:
    """Those that count; of tasks whose episodes were not finished, those of every submission."""
    final = set()
    for path in sorted((run / EVALUATIONS).glob("*.json")):
        evaluation = load_evaluation(path)
        final.add(evaluation.task_id)
        yield evaluation
    for path in sorted((run / SUBMISSIONS).glob(f"*/{EVALUATION_FILE}")):
        evaluation = load_evaluation(path)
        if evaluation.task_id not in final:
            yield evaluation


def load_evaluation(path: Path) -> Evaluation:
    """An evaluation that was saved as JSON.

    Raises:
        UserError: it is damaged, or of another version.
    """
    try:
        return Evaluation.model_validate(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError) as error:
        raise UserError(f"{path} is not a saved evaluation: judge the submission again") from error


def _rank(evaluation: Evaluation) -> tuple[float, float]:
    at_lower_bound = load_policy(evaluation.policy).at_lower_bound
    reward = compute_reward(evaluation, at_lower_bound=at_lower_bound)
    return reward, compute_reward(evaluation, RewardKind.SPEEDUP)


def judge_folder(folder: Path, setting: Setting) -> Winner:
    """The submission in a folder; judged now, unless the folder has its evaluation from a run.

    Raises:
        UserError: a stage fails, and with it the export.
        InfrastructureError: the machine failed.
    """
    submission = freeze_submission(folder)
    if (folder / EVALUATION_FILE).is_file():
        saved = load_evaluation(folder / EVALUATION_FILE)
        if (saved.submission_sha, saved.task_id) == (submission.sha, setting.task.task_id) and _rank(saved)[
            0
        ] > 0:
            return Winner(setting.task, submission, saved)
    with setting.open_judge() as judge:
        evaluation = evaluate(submission, setting=setting, judge=judge)
    if evaluation.failed_stage is not None:
        cause = f"{evaluation.failed_stage}: {evaluation.reason}"
        raise UserError(f"{folder} was judged and did not pass ({cause}): there is nothing to export")
    return Winner(setting.task, submission, evaluation)

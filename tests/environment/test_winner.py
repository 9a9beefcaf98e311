"""The best of what was verified, and a word for each way in which there is none."""

import dataclasses
from pathlib import Path

import pytest

from cuda_agent.config import Config
from cuda_agent.environment.evaluate import Setting
from cuda_agent.environment.result import Evaluation
from cuda_agent.environment.submission import Submission
from cuda_agent.environment.winner import find_winner, judge_folder
from cuda_agent.errors import UserError
from cuda_agent.judge.policy import load_policy
from cuda_agent.rundir import RunDir
from cuda_agent.sandbox.protocol import Sandbox
from cuda_agent.tasks.target import Target
from cuda_agent.tasks.task import Task
from tests.evaluations import build_passed, build_refused


class Job(Config):
    """As much of a run's configuration as counts here."""

    tasks: tuple[Task, ...]
    """Its tasks."""


@pytest.fixture
def other_task(tiny_task: Task) -> Task:
    return Task(name="other", source=f"{tiny_task.source}\n")


@pytest.fixture
def run(tmp_path: Path, tiny_task: Task, other_task: Task) -> Path:
    with RunDir.create(tmp_path / "run", Job(tasks=(tiny_task, other_task))) as opened:
        return opened.path


def vary(submission: Submission, mark: str) -> Submission:
    """The same with a comment, and so with another hash."""
    files = {**submission.files, "kernels/note.h": f"// {mark}\n".encode()}
    return dataclasses.replace(submission, files=files)


def keep(run: Path, submission: Submission, *, evaluation: Evaluation) -> None:
    """What an environment leaves in a run's folder."""
    place = run / "submissions" / submission.sha
    submission.write_to(place)
    (place / "evaluation.json").write_text(evaluation.model_dump_json())


def keep_final(run: Path, name: str, *, evaluation: Evaluation) -> None:
    (run / "evaluations").mkdir(exist_ok=True)
    (run / "evaluations" / f"{name}.json").write_text(evaluation.model_dump_json())


def test_the_fastest_submission_of_an_unfinished_run(
    run: Path, tiny_task: Task, submission: Submission
) -> None:
    for mark, speedup in (("a", 1.5), ("b", 2.5), ("c", 1.2)):
        made = vary(submission, mark)
        keep(run, made, evaluation=build_passed(tiny_task, made, speedup=speedup))
    keep(run, submission, evaluation=build_refused(tiny_task, submission))
    winner = find_winner(run)
    assert winner.submission.sha == vary(submission, "b").sha
    assert winner.task == tiny_task
    assert winner.evaluation.profile is not None
    assert winner.evaluation.profile.over_compiled is not None
    assert winner.evaluation.profile.over_compiled.point == 2.5


def test_what_counts_is_the_final_evaluation(run: Path, tiny_task: Task, submission: Submission) -> None:
    lucky = vary(submission, "lucky once")
    keep(run, lucky, evaluation=build_passed(tiny_task, lucky, speedup=9.0))
    keep(run, submission, evaluation=build_passed(tiny_task, submission, speedup=2.0))
    keep_final(run, tiny_task.task_id, evaluation=build_passed(tiny_task, submission, speedup=1.9))
    assert find_winner(run).submission.sha == submission.sha


def test_the_best_of_several_episodes(run: Path, tiny_task: Task, submission: Submission) -> None:
    for mark, speedup in (("a", 1.5), ("b", 2.5)):
        made = vary(submission, mark)
        keep(run, made, evaluation=build_passed(tiny_task, made, speedup=speedup))
        keep_final(
            run, f"{tiny_task.task_id}-{mark}", evaluation=build_passed(tiny_task, made, speedup=speedup)
        )
    assert find_winner(run).submission.sha == vary(submission, "b").sha


def test_of_several_tasks_one_is_named(
    run: Path, tiny_task: Task, other_task: Task, submission: Submission
) -> None:
    for task in (tiny_task, other_task):
        made = vary(submission, task.name)
        keep(run, made, evaluation=build_passed(task, made))
    with pytest.raises(UserError, match=r"choose one with --task: (tiny|other)-"):
        find_winner(run)
    assert find_winner(run, "other").task == other_task
    assert find_winner(run, tiny_task.task_id).task == tiny_task
    with pytest.raises(UserError, match="no task 'third'"):
        find_winner(run, "third")


def test_an_unfinished_task_beside_a_finished_one(
    run: Path, tiny_task: Task, other_task: Task, submission: Submission
) -> None:
    keep(run, submission, evaluation=build_passed(tiny_task, submission))
    keep_final(run, tiny_task.task_id, evaluation=build_refused(tiny_task, submission))
    made = vary(submission, "other")
    keep(run, made, evaluation=build_passed(other_task, made))
    assert find_winner(run).task == other_task


def test_nothing_verified(run: Path, tiny_task: Task, submission: Submission) -> None:
    keep(run, submission, evaluation=build_refused(tiny_task, submission))
    with pytest.raises(UserError, match="no verified submission"):
        find_winner(run)


def test_changed_files_are_not_what_was_judged(run: Path, tiny_task: Task, submission: Submission) -> None:
    keep(run, submission, evaluation=build_passed(tiny_task, submission))
    (run / "submissions" / submission.sha / "model_new.py").write_text("class ModelNew: ...\n")
    with pytest.raises(UserError, match="were changed since"):
        find_winner(run)


def test_a_damaged_evaluation_is_named(run: Path) -> None:
    keep_final(run, "torn", evaluation=Evaluation.model_construct())
    (run / "evaluations" / "torn.json").write_text('{"task_id": "ti')
    with pytest.raises(UserError, match=r"torn\.json is not a saved evaluation"):
        find_winner(run)


def test_a_folder_that_a_run_evaluated_is_not_judged_again(
    tmp_path: Path, tiny_task: Task, submission: Submission, plain_sandbox: Sandbox
) -> None:
    passed = build_passed(tiny_task, submission)
    keep(tmp_path, submission, evaluation=passed)
    setting = Setting(task=tiny_task, target=Target.CPU, sandbox=plain_sandbox, policy=load_policy("strict"))
    assert judge_folder(tmp_path / "submissions" / submission.sha, setting).evaluation == passed


@pytest.mark.slow
def test_a_folder_that_does_not_pass_is_not_exported(
    tmp_path: Path, tiny_task: Task, submission: Submission, sandbox: Sandbox
) -> None:
    broken = dataclasses.replace(submission, files={**submission.files, "kernels/note.cpp": b"int a\n"})
    broken.write_to(tmp_path)
    setting = Setting(task=tiny_task, target=Target.CPU, sandbox=sandbox, policy=load_policy("strict"))
    with pytest.raises(UserError, match=r"did not pass \(build: "):
        judge_folder(tmp_path, setting)

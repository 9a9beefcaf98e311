"""Which of a run's tasks are admitted. (A refused task of a run is in test_run.)"""

import io

import pytest
from rich.console import Console

from cuda_agent.agent.episode import EpisodeConfig
from cuda_agent.agent.job import Job
from cuda_agent.cli import gate
from cuda_agent.cli.gate import admit_job
from cuda_agent.environment.evaluate import Setting
from cuda_agent.errors import UserError
from cuda_agent.judge.result import TaskResult, TaskStatus
from cuda_agent.sandbox.protocol import Sandbox
from cuda_agent.tasks.target import Target
from cuda_agent.tasks.task import Task


def build_job(task: Task, *names: str) -> Job:
    tasks = tuple(task.model_copy(update={"name": name}) for name in names)
    return Job(tasks=tasks, episode=EpisodeConfig(target=Target.CPU))


def admit(job: Job, sandbox: Sandbox) -> gate.Admitted:
    return admit_job(job, sandbox=sandbox, console=Console(file=io.StringIO()))


def test_tasks_keep_their_order_and_one_that_did_not_fit_beside_others_is_asked_again_alone(
    sandbox: Sandbox, tiny_task: Task, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    asked: list[str] = []
    answers = {
        "large": [TaskResult(status=TaskStatus.DOES_NOT_FIT, reason="no room"), TaskResult()],
        "huge": [TaskResult(status=TaskStatus.DOES_NOT_FIT, reason="no room")] * 2,
        "plain": [TaskResult()],
        "zero": [TaskResult(status=TaskStatus.FAULTY, reason="zeros would pass")],
    }

    def ask(setting: Setting) -> TaskResult:
        asked.append(setting.task.name)
        return answers[setting.task.name].pop(0)

    monkeypatch.setattr(gate, "ask_gate", ask)
    monkeypatch.setattr(gate, "count_cores", lambda: 8)
    job = build_job(tiny_task, *answers)
    found = admit(job, sandbox)
    assert [task.name for task in found.job.tasks] == ["large", "plain"]
    assert [(key.rpartition("-")[0], each.reason) for key, each in found.refused.items()] == [
        ("huge", "no room"),
        ("zero", "zeros would pass"),
    ]
    assert asked[4:] == ["large", "huge"]
    assert sorted(asked[:4]) == sorted(answers)
    out = capfd.readouterr().out
    assert out.count("no room: the task is at fault") == 1
    assert "zeros would pass: the task is at fault" in out


def test_a_job_without_a_task_to_judge_is_told(
    sandbox: Sandbox, tiny_task: Task, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gate, "ask_gate", lambda _: TaskResult(status=TaskStatus.FAULTY, reason="r"))
    with pytest.raises(UserError, match="no task is worth judging"):
        admit(build_job(tiny_task, "a"), sandbox)

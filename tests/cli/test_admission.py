"""What the gate says of a run's tasks. (A refused task is in test_run.)"""

from pathlib import Path

import pytest

from cuda_agent.agent.episode import EpisodeConfig
from cuda_agent.agent.job import Job
from cuda_agent.cli.admission import admit_job
from cuda_agent.environment.evaluate import Setting
from cuda_agent.sandbox.protocol import Sandbox
from cuda_agent.tasks.target import Target
from cuda_agent.tasks.task import Task


def test_a_flagged_task_is_admitted_and_its_flag_told_but_asked_for_once(
    sandbox: Sandbox,
    tiny_task: Task,
    capfd: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    source = tiny_task.source.replace("torch.relu(x)", "torch.log(x)")
    task = tiny_task.model_copy(update={"source": source})
    job = Job(tasks=(task,), episode=EpisodeConfig(target=Target.CPU))
    assert admit_job(job, sandbox) == job
    told = capfd.readouterr().out
    assert told.startswith(f"{task.task_id}: task: flagged: parts of its output are not finite")

    monkeypatch.setattr(Setting, "open_judge", lambda _: pytest.fail("the gate was asked again"))
    assert admit_job(job, sandbox) == job
    assert capfd.readouterr().out == told

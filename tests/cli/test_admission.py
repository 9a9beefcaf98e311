"""What the gate says of a run's tasks. (A refused task is in test_run.)"""

import pytest

from cuda_agent.agent.episode import EpisodeConfig
from cuda_agent.agent.job import Job
from cuda_agent.cli.admission import admit_job
from cuda_agent.sandbox.protocol import Sandbox
from cuda_agent.tasks.target import Target
from cuda_agent.tasks.task import Task


def test_a_flagged_task_is_admitted_and_its_flag_is_told(
    sandbox: Sandbox, tiny_task: Task, capfd: pytest.CaptureFixture[str]
) -> None:
    source = tiny_task.source.replace("torch.relu(x)", "torch.log(x)")
    task = tiny_task.model_copy(update={"source": source})
    job = Job(tasks=(task,), episode=EpisodeConfig(target=Target.CPU))
    assert admit_job(job, sandbox) == job
    assert f"{task.task_id}: task: flagged: parts of its output are not finite" in capfd.readouterr().out

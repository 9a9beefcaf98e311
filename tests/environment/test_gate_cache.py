"""What the gate said of a task is asked for once."""

from pathlib import Path

import pytest

from cuda_agent.environment.evaluate import Setting
from cuda_agent.environment.gate_cache import ask_gate
from cuda_agent.judge.policy import load_policy
from cuda_agent.judge.result import TaskStatus
from cuda_agent.sandbox.protocol import Sandbox
from cuda_agent.tasks.target import Target
from cuda_agent.tasks.task import Task


def test_a_flagged_task_is_asked_for_once_and_another_policy_asks_again(
    sandbox: Sandbox, tiny_task: Task, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    source = tiny_task.source.replace("torch.relu(x)", "torch.log(x)")
    task = tiny_task.model_copy(update={"source": source})
    setting = Setting(task=task, target=Target.CPU, sandbox=sandbox, policy=load_policy("strict"))
    result = ask_gate(setting)
    assert result.status is TaskStatus.FLAGGED
    assert result.flags[0].startswith("parts of its output are not finite")

    def fail(_: Setting) -> None:
        raise AssertionError("the gate was asked again")

    monkeypatch.setattr(Setting, "open_judge", fail)
    assert ask_gate(setting) == result
    with pytest.raises(AssertionError, match="asked again"):
        ask_gate(Setting(task=task, target=Target.CPU, sandbox=sandbox, policy=load_policy("paper")))

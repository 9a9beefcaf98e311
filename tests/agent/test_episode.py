"""An episode ends well whatever its policy does, and is on record. (The judged one is test_tiny.)"""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from cuda_agent.agent.episode import EpisodeConfig, Host, run_episode
from cuda_agent.agent.interruption import Interruption
from cuda_agent.agent.limits import EpisodeLimits
from cuda_agent.agent.record import TRAJECTORIES
from cuda_agent.agent.trajectory import StopReason, Trajectory, Turn
from cuda_agent.environment.admission import Admission
from cuda_agent.errors import InfrastructureError
from cuda_agent.llm.chat import Message, Reply, Role, ToolCall, ToolSchema
from cuda_agent.rundir import RunDir
from cuda_agent.sandbox.protocol import Sandbox
from cuda_agent.tasks.target import Target
from cuda_agent.tasks.task import Task

CONFIG = EpisodeConfig(target=Target.CPU, limits=EpisodeLimits(turns=5, retries=0))


class CommandChat:
    """Runs shell commands, one a turn, then does something else."""

    name = "commands"

    def __init__(self, *commands: str, end: Callable[[], Reply]) -> None:
        self.commands = list(commands)
        self.end = end

    def reply(self, messages: tuple[Message, ...], tools: tuple[ToolSchema, ...]) -> Reply:
        assert [tool.name for tool in tools] == ["bash", "edit", "search"]
        if not self.commands:
            return self.end()
        call = ToolCall(id=str(len(messages)), name="bash", arguments={"command": self.commands.pop(0)})
        return Reply(message=Message(role=Role.ASSISTANT, content="", tool_calls=(call,)))


def finish() -> Reply:
    return Reply(message=Message(role=Role.ASSISTANT, content="done"))


def fail() -> Reply:
    raise InfrastructureError("connection refused")


def interrupt() -> Reply:
    raise KeyboardInterrupt


@pytest.fixture
def run(tmp_path: Path) -> RunDir:
    """An open run."""
    return RunDir.create(tmp_path / "run", CONFIG)


def hold(run: RunDir, *, task: Task, sandbox: Sandbox, chat: CommandChat) -> Trajectory:
    host = Host(
        chat=chat,
        config=CONFIG,
        sandbox=sandbox,
        run=run,
        interruption=Interruption(),
        admission=Admission(1),
    )
    return run_episode(task, host=host, on_turn=lambda _: None)


def test_an_agent_that_gives_up_is_on_record(run: RunDir, tiny_task: Task, sandbox: Sandbox) -> None:
    chat = CommandChat("ls; cat model.py", "pwd; echo > new.py", "cat new.py", end=finish)
    trajectory = hold(run, task=tiny_task, sandbox=sandbox, chat=chat)
    assert trajectory.stop_reason is StopReason.FINISHED
    assert (trajectory.reward, trajectory.final, trajectory.submissions) == (-1.0, None, ())
    listed = trajectory.turns[0].observations[0].content
    assert "SKILL.md" in listed
    assert "kernels" in listed
    assert tiny_task.source.strip() in listed
    assert run.read(TRAJECTORIES, Trajectory) == (trajectory,)
    workspace = trajectory.turns[1].observations[0].content
    assert workspace.startswith("/")
    assert not os.path.exists(workspace)


def test_a_policy_that_fails_ends_the_episode_with_its_reason(
    run: RunDir, tiny_task: Task, sandbox: Sandbox
) -> None:
    trajectory = hold(run, task=tiny_task, sandbox=sandbox, chat=CommandChat("true", end=fail))
    assert trajectory.stop_reason is StopReason.POLICY_ERROR
    assert trajectory.stop_detail == "InfrastructureError: connection refused"
    assert len(trajectory.turns) == 1


def test_a_broken_submission_counts_as_one(run: RunDir, tiny_task: Task, sandbox: Sandbox) -> None:
    chat = CommandChat("cuda-agent submit", end=finish)
    trajectory = hold(run, task=tiny_task, sandbox=sandbox, chat=chat)
    assert trajectory.turns[0].observations[0].content.startswith("rules: bad_files: ")
    assert trajectory.final is not None
    assert trajectory.final == trajectory.submissions[0].evaluation
    assert trajectory.reward == -1.0


def test_an_interruption_leaves_the_turns_so_far_and_nothing_running(
    run: RunDir, tiny_task: Task, sandbox: Sandbox
) -> None:
    with pytest.raises(KeyboardInterrupt):
        hold(run, task=tiny_task, sandbox=sandbox, chat=CommandChat("pwd", end=interrupt))
    assert run.read(TRAJECTORIES, Trajectory) == ()
    (turn,) = run.read(f"live/{tiny_task.task_id}-0.jsonl", Turn)
    assert not os.path.exists(turn.observations[0].content)


def test_our_secrets_are_not_in_the_agents_environment(
    run: RunDir, tiny_task: Task, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-planted")
    trajectory = hold(run, task=tiny_task, sandbox=sandbox, chat=CommandChat("env", end=finish))
    assert "sk-planted" not in trajectory.turns[0].observations[0].content

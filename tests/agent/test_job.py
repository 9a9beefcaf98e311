"""A job holds each episode once, whatever happens to some of them."""

from pathlib import Path

import pytest

from cuda_agent.agent.episode import EpisodeConfig
from cuda_agent.agent.job import Job, run_job
from cuda_agent.agent.record import TRAJECTORIES
from cuda_agent.agent.trajectory import Trajectory, Turn
from cuda_agent.errors import InfrastructureError
from cuda_agent.llm.chat import Message, Reply, Role, ToolCall, ToolSchema
from cuda_agent.rundir import RunDir
from cuda_agent.sandbox.protocol import Command, Completed, Containment, Running, Sandbox
from cuda_agent.tasks.target import Target
from cuda_agent.tasks.task import Task


class Notes:
    """An observer that writes down what it sees, and may interrupt."""

    def __init__(self, interrupt_at: str = "") -> None:
        self.seen: list[str] = []
        self.interrupt_at = interrupt_at

    def begin(self, task: Task) -> None:
        if task.name == self.interrupt_at:
            raise KeyboardInterrupt
        self.seen.append(f"begin {task.name}")

    def turn(self, turn: Turn) -> None:
        self.seen.append(f"turn {turn.reply.message.content}")

    def end(self, trajectory: Trajectory) -> None:
        self.seen.append(f"end {trajectory.task_id.partition('-')[0]}")


@pytest.fixture
def job(tiny_task: Task) -> Job:
    """Three tasks."""
    tasks = tuple(Task(name=name, source=tiny_task.source) for name in ("one", "two", "three"))
    return Job(tasks=tasks, episode=EpisodeConfig(target=Target.CPU, policy="quitter"))


class QuittingChat:
    """Gives up at once."""

    name = "quitter"

    def reply(self, messages: tuple[Message, ...], tools: tuple[ToolSchema, ...]) -> Reply:
        return Reply(message=Message(role=Role.ASSISTANT, content="no"))


class BrokenSandbox:
    """A sandbox whose machine fails at every command of the agent; the judge's processes start."""

    containment = Containment.PROCESS

    def __init__(self, real: Sandbox) -> None:
        self._real = real

    def run(self, command: Command, stdin: bytes = b"") -> Completed:
        raise InfrastructureError("the machine is gone")

    def start(self, command: Command, log: Path) -> Running:
        return self._real.start(command, log)


class ListingChat:
    """Lists the workspace of the second task, and gives up on the others."""

    name = "lister"

    def reply(self, messages: tuple[Message, ...], tools: tuple[ToolSchema, ...]) -> Reply:
        calls = (ToolCall(id="0", name="bash", arguments={"command": "ls"}),)
        is_second = "# two" in messages[1].content
        return Reply(message=Message(role=Role.ASSISTANT, content="", tool_calls=calls if is_second else ()))


def test_each_task_has_its_episode_in_order(tmp_path: Path, job: Job, sandbox: Sandbox) -> None:
    notes = Notes()
    with RunDir.create(tmp_path / "run", job) as run:
        result = run_job(job, chat=QuittingChat(), sandbox=sandbox, run=run, observer=notes)
        assert run.read(TRAJECTORIES, Trajectory) == result.trajectories
    assert [found.task_id for found in result.trajectories] == [task.task_id for task in job.tasks]
    assert result.failures == {}
    assert notes.seen == [
        f"{word} {name}" if word != "turn" else "turn no"
        for name in ("one", "two", "three")
        for word in ("begin", "turn", "end")
    ]


def test_an_interrupted_job_goes_on_where_it_stopped(tmp_path: Path, job: Job, sandbox: Sandbox) -> None:
    chat = QuittingChat()
    with RunDir.create(tmp_path / "run", job) as run, pytest.raises(KeyboardInterrupt):
        run_job(job, chat=chat, sandbox=sandbox, run=run, observer=Notes(interrupt_at="two"))
    notes = Notes()
    with RunDir.resume(tmp_path / "run", job) as run:
        result = run_job(job, chat=chat, sandbox=sandbox, run=run, observer=notes)
        assert len(run.read(TRAJECTORIES, Trajectory)) == 3
    assert len(result.trajectories) == 3
    assert [line for line in notes.seen if line.startswith("begin")] == ["begin two", "begin three"]


def test_the_machines_failure_on_one_task_does_not_end_the_job(
    tmp_path: Path, job: Job, sandbox: Sandbox
) -> None:
    first, second, third = job.tasks
    second = second.model_copy(update={"source": second.source + "# two\n"})
    job = job.model_copy(update={"tasks": (first, second, third)})
    with RunDir.create(tmp_path / "run", job) as run:
        result = run_job(job, chat=ListingChat(), sandbox=BrokenSandbox(sandbox), run=run, observer=Notes())
    assert [found.task_id for found in result.trajectories] == [first.task_id, third.task_id]
    assert result.failures == {second.task_id: "the machine is gone"}

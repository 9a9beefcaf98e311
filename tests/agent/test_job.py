"""A job holds each episode once, whatever happens to some of them."""

import os
import signal
import threading
import time
from pathlib import Path

import pytest

from cuda_agent.agent.episode import EpisodeConfig
from cuda_agent.agent.job import Attempt, Job, run_job
from cuda_agent.agent.outcome import JobOutcome, Outcome
from cuda_agent.agent.record import TRAJECTORIES
from cuda_agent.agent.results import RESULTS
from cuda_agent.agent.trajectory import Trajectory, Turn
from cuda_agent.bench.load import load_records
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

    def expect(self, *, done: int, total: int) -> None:
        self.seen.append(f"expect {done} of {total}")

    def begin(self, attempt: Attempt) -> None:
        if attempt.task.name == self.interrupt_at:
            raise KeyboardInterrupt
        self.seen.append(f"begin {attempt.task.name} {attempt.number}")

    def turn(self, attempt: Attempt, turn: Turn) -> None:
        self.seen.append(f"turn {attempt.task.name} {attempt.number}")

    def end(self, attempt: Attempt, outcome: Outcome | None) -> None:
        self.seen.append(f"end {attempt.task.name} {attempt.number}")


class KillingNotes(Notes):
    """Has its process killed when a task's episode begins."""

    def begin(self, attempt: Attempt) -> None:
        if attempt.task.name == self.interrupt_at:
            os.kill(os.getpid(), signal.SIGKILL)


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
    """A sandbox whose machine fails at every shell command; the judge's processes start."""

    containment = Containment.PROCESS

    def __init__(self, real: Sandbox) -> None:
        self._real = real

    def run(self, command: Command, stdin: bytes = b"") -> Completed:
        raise InfrastructureError("the machine is gone")

    def start(self, command: Command, log: Path) -> Running:
        if command.argv[0] == "bash":
            raise InfrastructureError("the machine is gone")
        return self._real.start(command, log)


class ListingChat:
    """Lists the workspace of the second task, and gives up on the others."""

    name = "lister"

    def reply(self, messages: tuple[Message, ...], tools: tuple[ToolSchema, ...]) -> Reply:
        calls = (ToolCall(id="0", name="bash", arguments={"command": "ls"}),)
        is_second = "# two" in messages[1].content
        return Reply(message=Message(role=Role.ASSISTANT, content="", tool_calls=calls if is_second else ()))


class MeetingChat:
    """Gives up once so many episodes ask at the same time."""

    name = "quitter"

    def __init__(self, count: int) -> None:
        self.barrier = threading.Barrier(count, timeout=60.0)

    def reply(self, messages: tuple[Message, ...], tools: tuple[ToolSchema, ...]) -> Reply:
        self.barrier.wait()
        return Reply(message=Message(role=Role.ASSISTANT, content="no"))


class SleepingChat:
    """Thinks for a long time."""

    name = "quitter"

    def reply(self, messages: tuple[Message, ...], tools: tuple[ToolSchema, ...]) -> Reply:
        time.sleep(300.0)
        raise AssertionError("nobody waits for this")


def list_ids(result: JobOutcome) -> list[str]:
    return [task.task_id for task in result.tasks]


def test_each_task_has_its_episode_in_order(tmp_path: Path, job: Job, sandbox: Sandbox) -> None:
    notes = Notes()
    with RunDir.create(tmp_path / "run", job) as run:
        result = run_job(job, chat=QuittingChat(), sandbox=sandbox, run=run, observer=notes)
        assert [found.task_id for found in run.read(TRAJECTORIES, Trajectory)] == list_ids(result)
    assert list_ids(result) == [task.task_id for task in job.tasks]
    assert result.failures == {}
    assert notes.seen == [
        "expect 0 of 3",
        *(f"{word} {name} 0" for name in ("one", "two", "three") for word in ("begin", "turn", "end")),
    ]
    assert JobOutcome.model_validate_json((tmp_path / "run" / RESULTS).read_text()) == result


def test_an_interrupted_job_goes_on_where_it_stopped(tmp_path: Path, job: Job, sandbox: Sandbox) -> None:
    chat = QuittingChat()
    with RunDir.create(tmp_path / "run", job) as run, pytest.raises(KeyboardInterrupt):
        run_job(job, chat=chat, sandbox=sandbox, run=run, observer=Notes(interrupt_at="two"))
    notes = Notes()
    with RunDir.resume(tmp_path / "run", job) as run:
        result = run_job(job, chat=chat, sandbox=sandbox, run=run, observer=notes)
        assert len(run.read(TRAJECTORIES, Trajectory)) == 3
    assert len(result.tasks) == 3
    assert notes.seen[0] == "expect 1 of 3"
    begun = [line for line in notes.seen if line.startswith("begin")]
    assert begun == ["begin two 0", "begin three 0"]


def test_a_kill_loses_no_finished_episode(tmp_path: Path, job: Job, sandbox: Sandbox) -> None:
    child = os.fork()
    if child == 0:
        with RunDir.create(tmp_path / "run", job) as run:
            run_job(job, chat=QuittingChat(), sandbox=sandbox, run=run, observer=KillingNotes("three"))
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    kept = JobOutcome.model_validate_json((tmp_path / "run" / RESULTS).read_text())
    assert set(list_ids(kept)) <= {task.task_id for task in job.tasks[:2]}
    assert [record.status.value for record in load_records(tmp_path / "run")] == ["missing"] * 3
    notes = Notes()
    with RunDir.resume(tmp_path / "run", job) as run:
        result = run_job(job, chat=QuittingChat(), sandbox=sandbox, run=run, observer=notes)
    assert notes.seen[0] == "expect 2 of 3"
    assert list_ids(result) == [task.task_id for task in job.tasks]
    assert JobOutcome.model_validate_json((tmp_path / "run" / RESULTS).read_text()) == result


def test_many_episodes_are_held_at_once_and_counted_task_by_task(
    tmp_path: Path, job: Job, sandbox: Sandbox
) -> None:
    job = job.replace(tasks=job.tasks[:2], episodes=3)
    chat = MeetingChat(3)
    with RunDir.create(tmp_path / "run", job) as run:
        result = run_job(job, chat=chat, sandbox=sandbox, run=run, observer=Notes(), concurrency=3)
        found = sorted((each.task_id, each.episode) for each in run.read(TRAJECTORIES, Trajectory))
    assert found == sorted((task.task_id, number) for task in job.tasks for number in range(3))
    assert [task.rewards for task in result.tasks] == [(-1.0,) * 3] * 2
    assert [*result.pass_at_k.items()] == [(1, 0.0), (2, 0.0), (3, 0.0)]


def test_an_interruption_lets_go_all_episodes_and_a_resume_holds_only_the_missing_ones(
    tmp_path: Path, job: Job, sandbox: Sandbox
) -> None:
    job = job.replace(tasks=job.tasks[:2], episodes=2)
    start_s = time.monotonic()
    with RunDir.create(tmp_path / "run", job) as run, pytest.raises(KeyboardInterrupt):
        run_job(job, chat=SleepingChat(), sandbox=sandbox, run=run, observer=Notes("two"), concurrency=2)
    assert time.monotonic() - start_s < 30.0
    notes = Notes()
    with RunDir.resume(tmp_path / "run", job) as run:
        run_job(job, chat=QuittingChat(), sandbox=sandbox, run=run, observer=notes, concurrency=2)
        assert len(run.read(TRAJECTORIES, Trajectory)) == 4
    again = Notes()
    with RunDir.resume(tmp_path / "run", job) as run:
        run_job(job, chat=QuittingChat(), sandbox=sandbox, run=run, observer=again)
    assert notes.seen[0] == "expect 0 of 4"
    assert again.seen == ["expect 4 of 4"]


def test_the_machines_failure_on_one_task_does_not_end_the_job(
    tmp_path: Path, job: Job, sandbox: Sandbox
) -> None:
    first, second, third = job.tasks
    second = second.model_copy(update={"source": second.source + "# two\n"})
    job = job.model_copy(update={"tasks": (first, second, third)})
    with RunDir.create(tmp_path / "run", job) as run:
        result = run_job(job, chat=ListingChat(), sandbox=BrokenSandbox(sandbox), run=run, observer=Notes())
    assert list_ids(result) == [first.task_id, third.task_id]
    assert result.failures == {second.task_id: "the machine is gone"}

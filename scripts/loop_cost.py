"""What the loop itself costs: everything of a turn but the model and the tools, with many episodes at once.

A scripted policy writes a file and runs a short command by turns, so no judge is needed. It thinks for a
while; what a reply takes beyond that (threads, waiting for a processor) counts as the loop's own.
"""

import random
import statistics
import tempfile
import time
from pathlib import Path

import tyro
from pydantic import NonNegativeFloat, PositiveInt

from cuda_agent.agent.episode import EpisodeConfig
from cuda_agent.agent.job import Attempt, Job, run_job
from cuda_agent.agent.limits import EpisodeLimits
from cuda_agent.agent.outcome import Outcome
from cuda_agent.agent.record import TRAJECTORIES
from cuda_agent.agent.trajectory import Trajectory, Turn
from cuda_agent.config import Config, Record
from cuda_agent.llm.chat import Message, Reply, Role, ToolCall, ToolSchema
from cuda_agent.rundir import RunDir
from cuda_agent.sandbox.build import build_sandbox
from cuda_agent.sandbox.protocol import Sandbox
from cuda_agent.tasks.target import Target
from cuda_agent.tasks.task import Task


class CostConfig(Config):
    """What to measure."""

    episodes: PositiveInt = 64
    """How many."""
    concurrency: PositiveInt = 64
    """How many at once."""
    turns: PositiveInt = 20
    """Replies of each."""
    think_s: NonNegativeFloat = 2.0
    """How long the policy takes for a reply, give or take a half; with 0 the commands keep all cores busy."""


class Cost(Record):
    """What was found."""

    turns: int
    """Turns in all."""
    wall_s: float
    """Seconds for all episodes, with setting up their workspaces."""
    own_ms_median: float
    """The loop's own wall-clock time a turn: the median over the episodes."""
    own_ms_worst: float
    """The same of the worst episode."""
    own_ms_processor: float
    """Processor time a turn of this process: the loop, its policy, and starting commands."""
    tools_ms_median: float
    """What the tools took a turn."""


class WorkingChat:
    """Writes a file and runs a short command by turns; says for how many seconds it thought."""

    name = "working"

    def __init__(self, turns: int, *, think_s: float) -> None:
        self._turns = turns
        self._think_s = think_s

    def reply(self, messages: tuple[Message, ...], tools: tuple[ToolSchema, ...]) -> Reply:
        """The next step; which one follows from the messages alone."""
        # Not all at the same moment: models do not answer in step either.
        start_s = time.monotonic()
        time.sleep(random.uniform(0.5, 1.5) * self._think_s)
        think_s = time.monotonic() - start_s
        turn = sum(message.role is Role.ASSISTANT for message in messages)
        if turn + 1 >= self._turns:
            return Reply(message=Message(role=Role.ASSISTANT, content=f"{think_s}"))
        text = f"// version {turn}\n" + "int x;\n" * 100
        call = (
            ToolCall(id=f"{turn}", name="bash", arguments={"command": f"wc -l notes.txt; echo {turn}"})
            if turn % 2
            else ToolCall(
                id=f"{turn}",
                name="edit",
                arguments={"command": "create", "path": "notes.txt", "file_text": text},
            )
        )
        return Reply(message=Message(role=Role.ASSISTANT, content=f"{think_s}", tool_calls=(call,)))


class Silence:
    """Observes nothing."""

    def expect(self, *, done: int, total: int) -> None:
        """Nothing is shown."""

    def begin(self, attempt: Attempt) -> None:
        """Nothing is shown."""

    def turn(self, attempt: Attempt, turn: Turn) -> None:
        """Nothing is shown."""

    def end(self, attempt: Attempt, outcome: Outcome | None) -> None:
        """Nothing is shown."""


def measure_cost(config: CostConfig, sandbox: Sandbox, folder: Path) -> Cost:
    """Hold the episodes and read from their trajectories what they took."""
    job = Job(
        tasks=(Task(name="idle", source="# nothing is judged\n"),),
        episode=EpisodeConfig(target=Target.CPU, policy="working", limits=EpisodeLimits()),
        episodes=config.episodes,
    )
    start_s, start_processor_s = time.monotonic(), time.process_time()
    chat = WorkingChat(config.turns, think_s=config.think_s)
    with RunDir.create(folder, job) as run:
        run_job(job, chat=chat, sandbox=sandbox, run=run, observer=Silence(), concurrency=config.concurrency)
        wall_s = time.monotonic() - start_s
        processor_s = time.process_time() - start_processor_s
        trajectories = run.read(TRAJECTORIES, Trajectory)
    assert len(trajectories) == config.episodes
    assert all(len(each.turns) == config.turns for each in trajectories)
    own_ms = [compute_own_ms(each) for each in trajectories]
    tools_ms = [turn.seconds_tools * 1e3 for each in trajectories for turn in each.turns]
    return Cost(
        turns=config.episodes * config.turns,
        wall_s=wall_s,
        own_ms_median=statistics.median(own_ms),
        own_ms_worst=max(own_ms),
        own_ms_processor=processor_s * 1e3 / (config.episodes * config.turns),
        tools_ms_median=statistics.median(tools_ms),
    )


def compute_own_ms(trajectory: Trajectory) -> float:
    """An episode's milliseconds a turn beside thinking and tools, from its first turn to its end."""
    turns = trajectory.turns
    others_s = sum(turn.seconds_tools + float(turn.reply.message.content) for turn in turns)
    return (trajectory.seconds - others_s) * 1e3 / len(turns)


def run_cost(config: CostConfig) -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory(prefix="loop-cost-") as folder:
        cost = measure_cost(config, build_sandbox(), Path(folder) / "run")
    print(
        f"{config.episodes} episodes, {config.concurrency} at once, {cost.turns} turns, {cost.wall_s:.1f} s: "
        f"the loop's own {cost.own_ms_median:.2f} ms a turn (median; worst episode "
        f"{cost.own_ms_worst:.2f} ms), processor time {cost.own_ms_processor:.2f} ms, "
        f"tools {cost.tools_ms_median:.1f} ms"
    )


if __name__ == "__main__":
    run_cost(tyro.cli(CostConfig, description=__doc__))

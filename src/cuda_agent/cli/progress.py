"""A job going on, for people: one live line on a terminal, plain lines elsewhere."""

import time
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.markup import escape
from rich.status import Status

from cuda_agent.agent.trajectory import Trajectory, Turn
from cuda_agent.cli.results import describe_verdict
from cuda_agent.tasks.task import Task

LINE_CHARACTERS = 100
"""How much of what the agent says is shown."""


class ConsoleProgress:
    """Observes a job on a console."""

    def __init__(self, console: Console, *, tasks: int) -> None:
        self._console = console
        self._tasks = tasks
        self._begun = 0
        self._turns = 0
        self._start_s = 0.0
        self._title = ""
        self._status: Status | None = None

    def begin(self, task: Task) -> None:
        """Show that an episode begins."""
        self._begun += 1
        self._turns = 0
        self._start_s = time.monotonic()
        self._title = f"[{self._begun}/{self._tasks}] {task.name}"
        if self._console.is_terminal:
            self._status = self._console.status(escape(self._title))
            self._status.start()
        else:
            self._print(self._title)

    def turn(self, turn: Turn) -> None:
        """Show what the agent said, or did, last."""
        self._turns += 1
        spent_s = time.monotonic() - self._start_s
        line = f"turn {self._turns}, {spent_s:.0f} s: {_describe(turn)}"
        if self._status is not None:
            self._status.update(escape(f"{self._title}  {line}"))
        else:
            self._print(f"  {line}")

    def end(self, trajectory: Trajectory) -> None:
        """Show how the episode ended."""
        self._take_away()
        self._print(
            f"{self._title}: {describe_verdict(trajectory)}, reward {trajectory.reward:g} "
            f"({len(trajectory.turns)} turns, {trajectory.seconds:.0f} s)"
        )
        if trajectory.stop_detail:
            self._print(f"  stopped: {trajectory.stop_detail}")

    def __enter__(self) -> Self:
        """The observer itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Take the live line away."""
        self._take_away()

    def _take_away(self) -> None:
        if self._status is not None:
            self._status.stop()
            self._status = None

    def _print(self, line: str) -> None:
        self._console.print(line, markup=False, highlight=False, soft_wrap=True)


def _describe(turn: Turn) -> str:
    message = turn.reply.message
    said = next((line.strip() for line in message.content.split("\n") if line.strip()), "")
    calls = [
        str((call.arguments or {}).get("command", call.name)).split("\n")[0] for call in message.tool_calls
    ]
    line = said or "; ".join(calls)
    return line if len(line) <= LINE_CHARACTERS else f"{line[:LINE_CHARACTERS]}..."

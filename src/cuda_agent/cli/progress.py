"""A job going on, for people: one live line on a terminal, plain lines elsewhere."""

import threading
import time
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.markup import escape
from rich.status import Status

from cuda_agent.agent.job import Attempt
from cuda_agent.agent.outcome import Outcome
from cuda_agent.agent.trajectory import Turn
from cuda_agent.cli.results import describe_verdict
from cuda_agent.printable import make_printable

PLAIN_CHARACTERS = 1000
"""How much of what the agent says is shown where no terminal's width is a limit."""

LEAST_CHARACTERS = 20
"""How much of it is shown on the narrowest terminal."""

SPINNER_CHARACTERS = 2


class ConsoleProgress:
    """Observes a job on a console; several episodes may go on at once."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._lock = threading.Lock()
        self._begun = 0
        self._ended = 0
        self._total = 0
        self._going: dict[tuple[str, int], _Going] = {}
        self._status: Status | None = None

    def expect(self, *, done: int, total: int) -> None:
        """Count on from the episodes that were held before."""
        self._begun = self._ended = done
        self._total = total

    def begin(self, attempt: Attempt) -> None:
        """Show that an episode begins."""
        with self._lock:
            self._begun += 1
            going = _Going(attempt, place=f"{self._begun}/{self._total}")
            self._going[attempt.key] = going
            if self._console.is_terminal:
                self._show(going.title)
            else:
                self._print(going.title)

    def turn(self, attempt: Attempt, turn: Turn) -> None:
        """Show what the agent said, or did, last."""
        with self._lock:
            going = self._going[attempt.key]
            going.turns += 1
            line = f"turn {going.turns}, {going.seconds:.0f} s: {_describe(turn)}"
            if self._console.is_terminal:
                self._show(f"{going.title}  {line}")
            else:
                line = line if len(self._going) == 1 else f"{going.title} {line}"
                self._print(f"  {_shorten(line, PLAIN_CHARACTERS)}")

    def end(self, attempt: Attempt, outcome: Outcome | None) -> None:
        """Show how the episode ended."""
        with self._lock:
            self._ended += 1
            going = self._going.pop(attempt.key)
            if not self._going:
                self._take_away()
            if outcome is None:
                self._print(f"{going.title}: the machine failed")
                return
            self._print(
                f"{going.title}: {describe_verdict(outcome)}, reward {outcome.reward:g} "
                f"({outcome.turns} turns, {outcome.seconds:.0f} s)"
            )
            if outcome.stop_detail:
                self._print(f"  stopped: {make_printable(outcome.stop_detail)}")

    def __enter__(self) -> Self:
        """The observer itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Take the live line away."""
        with self._lock:
            self._take_away()

    def _show(self, line: str) -> None:
        """Put a text into the live line, after how far the whole is where several go on."""
        if len(self._going) > 1:
            line = f"{self._ended} of {self._total} done, {len(self._going)} going on  {line}"
        # One line: what a spinner redraws must not wrap.
        line = _shorten(line, max(LEAST_CHARACTERS, self._console.width - SPINNER_CHARACTERS))
        if self._status is None:
            self._status = self._console.status(escape(line))
            self._status.start()
        else:
            self._status.update(escape(line))

    def _take_away(self) -> None:
        if self._status is not None:
            self._status.stop()
            self._status = None

    def _print(self, line: str) -> None:
        self._console.print(line, markup=False, highlight=False, soft_wrap=True)


class _Going:
    """An episode that goes on."""

    def __init__(self, attempt: Attempt, *, place: str) -> None:
        name = attempt.task.name if attempt.number == 0 else f"{attempt.task.name} #{attempt.number + 1}"
        self.title = f"[{place}] {make_printable(name)}"
        self.turns = 0
        self._start_s = time.monotonic()

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._start_s


def _describe(turn: Turn) -> str:
    message = turn.reply.message
    said = next((line.strip() for line in message.content.split("\n") if line.strip()), "")
    calls = [
        str((call.arguments or {}).get("command", call.name)).split("\n")[0] for call in message.tool_calls
    ]
    return make_printable(said or "; ".join(calls))


def _shorten(line: str, characters: int) -> str:
    return line if len(line) <= characters else f"{line[: characters - 3]}..."

"""A shell in the workspace."""

import dataclasses
from collections.abc import Mapping
from typing import Annotated

from pydantic import Field, JsonValue

from cuda_agent.agent.tools.commands import LOG_BYTES, Commands, Look, Started
from cuda_agent.agent.tools.outputs import Outputs
from cuda_agent.agent.tools.tool import ArgumentText, InvalidCallError, build_schema, parse_arguments
from cuda_agent.config import Record
from cuda_agent.sandbox.protocol import Command

BACKGROUND_COMMANDS = 4
"""How many background commands may run at once."""

READ_S = 30.0
"""How long reading a background command waits for its end when it is not told."""


class BashArguments(Record):
    """What a call of `bash` says."""

    command: ArgumentText | None = None
    """The shell command; several lines are fine. Left out to read or stop a background command."""
    timeout_s: Annotated[float, Field(gt=0)] | None = None
    """Seconds until it is killed; left out: the longest allowed. With job: how long to wait for its end."""
    background: bool = False
    """Start the command, and do not wait for it; the answer says its job number."""
    job: int | None = None
    """A background command's number: shows what it printed since it was last looked at."""
    stop: bool = False
    """With job: kill it."""


class BashTool:
    """Runs commands in the sandbox; what one leaves running ends with it, unless it is in the background."""

    def __init__(self, commands: Commands, shell: Command, outputs: Outputs) -> None:
        """`shell` is a command without a program: where it runs, what it sees, its limits."""
        self.schema = build_schema("bash", BashArguments)
        """The tool as a model sees it."""
        self._commands = commands
        self._shell = shell
        self._outputs = outputs
        self._background: dict[int, Started] = {}

    def run(self, arguments: Mapping[str, JsonValue]) -> str:
        """Run, start, read or stop a command; its output, the middle cut, and how it ended unless well.

        Raises:
            InvalidCallError: the arguments do not fit the schema or each other.
        """
        asked = parse_arguments(BashArguments, arguments)
        if (asked.command is None) == (asked.job is None):
            raise InvalidCallError("give either command, or the job to read or stop")
        if asked.job is not None:
            return self._read(asked.job, asked)
        assert asked.command is not None
        if asked.background:
            return self._start(asked.command)
        return self._run(asked.command, self._limit(asked.timeout_s))

    def _run(self, command: str, wall_s: float) -> str:
        job = self._launch(command, file_bytes=self._shell.limits.file_bytes)
        ended = job.wait(wall_s, is_judge_free=True)
        job.stop()
        look = job.look()
        job.forget()
        self._commands.check_setup(self._shell, look)
        how = _tell_end(look) if ended else f"[killed after {wall_s:g} s]"
        return self._show(look, how) or "[no output]"

    def _start(self, command: str) -> str:
        running = [number for number, job in self._background.items() if not job.wait(0.0)]
        if len(running) >= BACKGROUND_COMMANDS:
            return f"error: jobs {', '.join(map(str, running))} are running; stop one, or wait for one"
        number = len(self._background) + 1
        self._background[number] = self._launch(command, file_bytes=LOG_BYTES)
        return f"[job {number} started; read it with job={number}, end it with job={number} and stop=true]"

    def _read(self, number: int, asked: BashArguments) -> str:
        job = self._background.get(number)
        if job is None:
            known = ", ".join(map(str, self._background)) or "none"
            raise InvalidCallError(f"job: there is no job {number}; those started are: {known}")
        ended = job.wait(0.0 if asked.stop else self._limit(asked.timeout_s or READ_S))
        if asked.stop:
            job.stop()
        look = job.look()
        how = _tell_end(look) or f"[job {number} ended after {look.seconds:.0f} s]"
        if asked.stop and not ended:
            how = f"[job {number} stopped after {look.seconds:.0f} s]"
        elif not ended:
            how = f"[job {number} still runs after {look.seconds:.0f} s]"
        return self._show(look, how)

    def _launch(self, command: str, *, file_bytes: int) -> Started:
        limits = dataclasses.replace(self._shell.limits, file_bytes=file_bytes)
        return self._commands.start(
            dataclasses.replace(self._shell, argv=("bash", "-c", command), limits=limits)
        )

    def _limit(self, timeout_s: float | None) -> float:
        longest_s = self._shell.limits.wall_s
        return min(timeout_s or longest_s, longest_s)

    def _show(self, look: Look, how: str) -> str:
        return "\n".join(part for part in (self._outputs.shorten(look.output.rstrip("\n")), how) if part)


def _tell_end(look: Look) -> str:
    """How a command ended; empty when it ended well or runs."""
    if not look.returncode:
        return ""
    if look.returncode < 0:
        return f"[killed by signal {-look.returncode}]"
    return f"[exit status {look.returncode}]"

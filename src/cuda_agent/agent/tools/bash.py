"""A shell in the workspace."""

import dataclasses
from collections.abc import Mapping
from typing import Annotated

from pydantic import Field, JsonValue

from cuda_agent.agent.tools.tool import ArgumentText, build_schema, parse_arguments, truncate_middle
from cuda_agent.config import Record
from cuda_agent.sandbox.protocol import Command, Sandbox


class BashArguments(Record):
    """What a call of `bash` says."""

    command: ArgumentText
    """The shell command; several lines are fine."""
    timeout_s: Annotated[float, Field(gt=0)] | None = None
    """Seconds until it is killed; the longest allowed when left out."""


class BashTool:
    """Runs one command in the sandbox; nothing lives on after it but the files it wrote."""

    def __init__(self, sandbox: Sandbox, shell: Command) -> None:
        """`shell` is a command without a program: where it runs, what it sees, its limits."""
        self.schema = build_schema("bash", BashArguments)
        """The tool as a model sees it."""
        self._sandbox = sandbox
        self._shell = shell

    def run(self, arguments: Mapping[str, JsonValue]) -> str:
        """Run the command; its output, the middle cut, and how it ended unless that was well.

        Raises:
            InvalidCallError: the arguments do not fit the schema.
        """
        asked = parse_arguments(BashArguments, arguments)
        wall_s = min(asked.timeout_s or self._shell.limits.wall_s, self._shell.limits.wall_s)
        # One stream keeps errors beside the output that they belong to.
        program = f"exec 2>&1\n{asked.command}"
        ended = self._sandbox.run(
            dataclasses.replace(
                self._shell,
                argv=("bash", "-c", program),
                limits=dataclasses.replace(self._shell.limits, wall_s=wall_s),
            )
        )
        parts = [truncate_middle((ended.stdout + ended.stderr).rstrip("\n"))]
        if ended.timed_out:
            parts.append(f"[killed after {wall_s:g} s]")
        elif ended.returncode < 0:
            parts.append(f"[killed by signal {-ended.returncode}]")
        elif ended.returncode > 0:
            parts.append(f"[exit status {ended.returncode}]")
        return "\n".join(part for part in parts if part) or "[no output]"

"""Regular expressions over the workspace's files."""

import dataclasses
from collections.abc import Mapping

from pydantic import JsonValue

from cuda_agent.agent.tools.commands import Commands
from cuda_agent.agent.tools.outputs import Outputs
from cuda_agent.agent.tools.tool import ArgumentText, InvalidCallError, build_schema, parse_arguments
from cuda_agent.config import Record
from cuda_agent.sandbox.protocol import Command

SEARCH_S = 20.0
"""Seconds one search may take."""

LINES = 200
"""How many matching lines a model is shown."""

LINE_CHARACTERS = 300
"""How much of one line it is shown."""

_GREP_FOUND_NOTHING = 1
_GREP_SAYS = "grep: "


class SearchArguments(Record):
    """What a call of `search` says."""

    pattern: ArgumentText
    """A POSIX extended regular expression, matched line by line."""
    path: ArgumentText = "."
    """The file or folder to search; the whole workspace when left out."""
    glob: ArgumentText | None = None
    """Only files whose name fits, such as *.cu; every file when left out."""


class SearchTool:
    """Searches with grep in the sandbox, so that neither a link nor a slow pattern does harm."""

    def __init__(self, commands: Commands, shell: Command, outputs: Outputs) -> None:
        """`shell` is a command without a program: where it runs, what it sees, its limits."""
        self.schema = build_schema("search", SearchArguments)
        """The tool as a model sees it."""
        self._commands = commands
        self._shell = shell
        self._outputs = outputs

    def run(self, arguments: Mapping[str, JsonValue]) -> str:
        """The matching lines as `path:line:text`, or a sentence.

        Raises:
            InvalidCallError: the arguments do not fit the schema.
        """
        asked = parse_arguments(SearchArguments, arguments)
        if asked.glob is not None and "/" in asked.glob:
            raise InvalidCallError("glob: a file name's pattern such as *.cu; give the folder in path")
        include = [f"--include={asked.glob}"] if asked.glob else []
        grep = ("grep", "-rnHIE", *include, "-e", asked.pattern, "--", asked.path)
        job = self._commands.start(dataclasses.replace(self._shell, argv=grep))
        limit_s = min(SEARCH_S, self._shell.limits.wall_s)
        ended = job.wait(limit_s)
        job.stop()
        look = job.look()
        job.forget()
        if not ended:
            return f"error: the search took longer than {limit_s:g} s; search a smaller folder"
        lines = look.output.rstrip("\n").split("\n") if look.output else []
        if found := [line.removeprefix("./") for line in lines if not line.startswith(_GREP_SAYS)]:
            return self._show(found)
        if look.returncode == _GREP_FOUND_NOTHING:
            return "no matches"
        return "error: " + ("; ".join(lines[:3]) or "the search failed")

    def _show(self, lines: list[str]) -> str:
        shown = [
            line if len(line) <= LINE_CHARACTERS else line[:LINE_CHARACTERS] + "..." for line in lines[:LINES]
        ]
        if len(lines) > LINES:
            shown.append(f"[{len(lines) - LINES} more matching lines; narrow the pattern, path or glob]")
        return self._outputs.shorten("\n".join(shown))

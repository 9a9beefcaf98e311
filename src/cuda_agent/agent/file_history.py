"""The files of an episode as its edits tell of them, and each edit as a diff."""

import difflib

from cuda_agent.agent.stuck import ERROR
from cuda_agent.llm.chat import ToolCall

CONTEXT_LINES = 2
"""How many unchanged lines around a change are shown."""


class FileHistory:
    """Follows the edits of one episode. What shell commands changed it does not know."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}

    def apply(self, call: ToolCall, answer: str) -> list[str]:
        """One edit as the lines of a diff; none when the call changed nothing."""
        arguments = {name: value for name, value in (call.arguments or {}).items() if value is not None}
        path, new = str(arguments.get("path", "")), str(arguments.get("new_str", ""))
        if call.name != "edit" or answer.startswith(ERROR):
            return []
        match arguments.get("command"):
            case "create":
                return self._change(path, str(arguments.get("file_text", "")))
            case "str_replace":
                return self._replace(path, str(arguments.get("old_str", "")), new=new)
            case "insert":
                text = str(arguments.get("insert_text", ""))
                return self._insert(path, text, line=arguments.get("insert_line"))
        return []

    def _change(self, path: str, new: str) -> list[str]:
        old, self._texts[path] = self._texts.get(path, ""), new
        diff = difflib.unified_diff(old.splitlines(), new.splitlines(), n=CONTEXT_LINES, lineterm="")
        return [*diff][2:]

    def _replace(self, path: str, old: str, *, new: str) -> list[str]:
        text = self._texts.get(path, "")
        if text.count(old) == 1:
            return self._change(path, text.replace(old, new))
        # Written by a shell command, so only the part that the edit itself names is known.
        return [*(f"-{line}" for line in old.splitlines()), *(f"+{line}" for line in new.splitlines())]

    def _insert(self, path: str, text: str, *, line: object) -> list[str]:
        if path in self._texts and isinstance(line, int):
            lines = self._texts[path].split("\n")
            lines[line:line] = text.removesuffix("\n").split("\n")
            return self._change(path, "\n".join(lines))
        return [f"+{each}" for each in text.splitlines()]

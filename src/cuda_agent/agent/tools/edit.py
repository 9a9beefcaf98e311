"""Reading and changing the workspace's files."""

from collections.abc import Mapping
from enum import StrEnum

from pydantic import JsonValue

from cuda_agent.agent.tools.outputs import SHOWN_CHARACTERS, truncate_middle
from cuda_agent.agent.tools.tool import InvalidCallError, build_schema, parse_arguments
from cuda_agent.config import Record
from cuda_agent.environment.workspace import Workspace, WorkspaceError

CONTEXT_LINES = 3
"""How many lines around a change are shown back."""


class EditCommand(StrEnum):
    """What to do with a file."""

    CREATE = "create"
    """Write the whole file, new or over an old one."""
    VIEW = "view"
    """Show it with line numbers, or list a folder."""
    STR_REPLACE = "str_replace"
    """Replace a text that occurs exactly once."""
    INSERT = "insert"
    """Insert lines after a line."""


class EditArguments(Record):
    """What a call of `edit` says."""

    command: EditCommand
    """What to do."""
    path: str
    """The file, relative to the workspace."""
    file_text: str | None = None
    """create: the whole content."""
    old_str: str | None = None
    """str_replace: the text to replace, exactly as it stands, with enough around it to be unique."""
    new_str: str | None = None
    """str_replace: the new text; nothing when left out."""
    insert_line: int | None = None
    """insert: the line after which to insert; 0 for the top."""
    insert_text: str | None = None
    """insert: the lines to insert."""
    view_range: tuple[int, int] | None = None
    """view: first and last line, counted from 1; -1 as the last for the end."""


_NEEDED = {
    EditCommand.CREATE: ("file_text",),
    EditCommand.VIEW: (),
    EditCommand.STR_REPLACE: ("old_str",),
    EditCommand.INSERT: ("insert_line", "insert_text"),
}


class EditTool:
    """Acts on the files through the workspace, which refuses links, other folders and read-only files."""

    def __init__(self, workspace: Workspace, *, shown_characters: int = SHOWN_CHARACTERS) -> None:
        """Of a view longer than `shown_characters` the middle is cut."""
        self.schema = build_schema("edit", EditArguments)
        """The tool as a model sees it."""
        self._workspace = workspace
        self._shown_characters = shown_characters

    def run(self, arguments: Mapping[str, JsonValue]) -> str:
        """Carry out one edit and show what came of it; what cannot be done is said with a mend.

        Raises:
            InvalidCallError: the arguments do not fit the schema or the command.
        """
        asked = parse_arguments(EditArguments, arguments)
        lacking = [name for name in _NEEDED[asked.command] if getattr(asked, name) is None]
        if lacking:
            raise InvalidCallError(f"{asked.command} needs {' and '.join(lacking)}")
        act = {
            EditCommand.CREATE: self._create,
            EditCommand.VIEW: self._view,
            EditCommand.STR_REPLACE: self._replace,
            EditCommand.INSERT: self._insert,
        }[asked.command]
        try:
            return act(asked)
        except WorkspaceError as error:
            return f"error: {error}"

    def _create(self, asked: EditArguments) -> str:
        assert asked.file_text is not None
        self._workspace.write_text(asked.path, asked.file_text)
        return f"wrote {asked.path} ({_count_lines(asked.file_text)} lines)"

    def _view(self, asked: EditArguments) -> str:
        folder = asked.path.removeprefix(str(self._workspace.root)).removeprefix("./").strip("/")
        files = self._workspace.list_files()
        beneath = [file for file in files if folder in ("", ".") or file.startswith(f"{folder}/")]
        if beneath and folder not in files:
            return "\n".join(beneath)
        lines = self._workspace.read_text(asked.path).split("\n")
        first, last = asked.view_range or (1, -1)
        last = len(lines) if last == -1 else last
        if not 1 <= first <= last or first > len(lines):
            return f"error: {asked.path} has lines 1 to {len(lines)}; lines {first} to {last} are not there"
        shown = _number(lines, first=first, last=min(last, len(lines)))
        return truncate_middle(shown, self._shown_characters, place=f"{asked.path}, with view_range")

    def _replace(self, asked: EditArguments) -> str:
        assert asked.old_str is not None
        if not asked.old_str:
            raise InvalidCallError("old_str is empty; to write a whole file use create, to add lines insert")
        text = self._workspace.read_text(asked.path)
        places = _find_all(text, asked.old_str)
        if len(places) != 1:
            return _explain_count(asked.path, text, old=asked.old_str, places=places)
        start = places[0]
        new = asked.new_str or ""
        changed = text[:start] + new + text[start + len(asked.old_str) :]
        self._workspace.write_text(asked.path, changed)
        first = text.count("\n", 0, start) + 1
        return self._show_change(asked.path, changed, first=first, count=1 + new.count("\n"))

    def _insert(self, asked: EditArguments) -> str:
        assert asked.insert_line is not None
        assert asked.insert_text is not None
        lines = self._workspace.read_text(asked.path).split("\n")
        if not 0 <= asked.insert_line <= len(lines):
            return f"error: {asked.path} has lines 1 to {len(lines)}; insert_line is one of them, or 0"
        new = asked.insert_text.removesuffix("\n").split("\n")
        changed = "\n".join([*lines[: asked.insert_line], *new, *lines[asked.insert_line :]])
        self._workspace.write_text(asked.path, changed)
        return self._show_change(asked.path, changed, first=asked.insert_line + 1, count=len(new))

    def _show_change(self, path: str, text: str, *, first: int, count: int) -> str:
        lines = text.split("\n")
        last = min(len(lines), first + count - 1 + CONTEXT_LINES)
        shown = _number(lines, first=max(1, first - CONTEXT_LINES), last=last)
        return truncate_middle(f"changed {path}:\n{shown}", self._shown_characters, place=path)


def _find_all(text: str, part: str) -> list[int]:
    """Where `part` starts in `text`, overlapping places too."""
    places = []
    start = text.find(part)
    while start >= 0:
        places.append(start)
        start = text.find(part, start + 1)
    return places


def _explain_count(path: str, text: str, *, old: str, places: list[int]) -> str:
    if places:
        lines = ", ".join(str(text.count("\n", 0, place) + 1) for place in places[:10])
        return f"error: old_str occurs {len(places)} times in {path} (lines {lines}); add lines around it"
    wanted = " ".join(old.split())
    if wanted and wanted in " ".join(text.split()):
        return f"error: old_str is in {path} only with other spaces or line breaks; view it and copy exactly"
    return f"error: old_str is not in {path}; view the file and copy the text exactly"


def _number(lines: list[str], *, first: int, last: int) -> str:
    return "\n".join(f"{number:6}\t{lines[number - 1]}" for number in range(first, last + 1))


def _count_lines(text: str) -> int:
    return text.count("\n") + (not text.endswith("\n") and bool(text))

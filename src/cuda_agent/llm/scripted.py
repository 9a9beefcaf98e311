"""A policy that says what it was told to say."""

import json
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import Field, JsonValue, ValidationError

from cuda_agent.config import Record
from cuda_agent.errors import UserError
from cuda_agent.llm.chat import Message, Reply, Role, ToolCall, ToolSchema

_LAST_WORDS = "The script ends here."


class ScriptedCall(Record):
    """One `[[reply.call]]` of a hand-written script."""

    tool: str
    """The tool's name."""
    arguments: dict[str, JsonValue] = {}
    """Its arguments."""


class ScriptedReply(Record):
    """One `[[reply]]` of a hand-written script."""

    text: str = ""
    """What is said."""
    call: tuple[ScriptedCall, ...] = ()
    """Which tools are called."""


class Script(Record):
    """A hand-written script, a TOML file."""

    reply: tuple[ScriptedReply, ...] = Field(min_length=1)
    """The replies, in order."""


@dataclass(frozen=True)
class Recording:
    """What one conversation's assistant said."""

    task: str | None
    """The user message that it answered; None when it fits any."""
    replies: tuple[Reply, ...]
    """Its replies, in order."""


class ScriptedChat:
    """Replays recorded trajectories, or a hand-written script, reply by reply.

    Which recording and which reply follow from the messages alone: the recording is the one whose
    user message is the conversation's own, or the only one there is; the reply is the one after as
    many assistant turns as the conversation has. When the recording runs out it ends the conversation.
    """

    def __init__(self, name: str, recordings: tuple[Recording, ...]) -> None:
        """Use `load_scripted_chat` for a file."""
        assert recordings, "a scripted policy needs something to say"
        self.name = name
        """How run folders and tables name this policy."""
        self._recordings = recordings

    def reply(self, messages: tuple[Message, ...], tools: tuple[ToolSchema, ...]) -> Reply:
        """The next recorded reply.

        Raises:
            UserError: several recordings, and none is of this task.
        """
        replies = self._find_recording(messages).replies
        spoken = sum(message.role is Role.ASSISTANT for message in messages)
        if spoken < len(replies):
            return replies[spoken]
        return Reply(message=Message(role=Role.ASSISTANT, content=_LAST_WORDS))

    def _find_recording(self, messages: tuple[Message, ...]) -> Recording:
        if len(self._recordings) == 1:
            return self._recordings[0]
        asked = _find_task(messages)
        for recording in self._recordings:
            if recording.task == asked:
                return recording
        raise UserError(
            f"{self.name}: none of {len(self._recordings)} recordings is of this task; "
            "record it, or give a file with one recording only"
        )


def load_scripted_chat(path: Path) -> ScriptedChat:
    """The policy in a file: `*.toml` is a hand-written script, anything else recorded trajectories.

    A script is a list of `[[reply]]` tables with `text` and `[[reply.call]]` tables of `tool` and
    `arguments`. Trajectories are JSON, one a line.

    Raises:
        UserError: the file cannot be read or holds neither; names file, place and mend.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(
            f"{path}: the script cannot be read ({error}); give a .toml or .jsonl file"
        ) from error
    recordings = (_parse_script(text, path),) if path.suffix == ".toml" else _parse_jsonl(text, path)
    return ScriptedChat(f"scripted:{path.stem}", recordings)


def _parse_script(text: str, path: Path) -> Recording:
    try:
        script = Script.model_validate(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise UserError(f"{path}: {error}; mend the TOML") from error
    except ValidationError as error:
        raise UserError(f"{path}: {_name_first(error)}; a script is [[reply]] tables") from error
    return Recording(None, tuple(_build_reply(turn, spoken) for turn, spoken in enumerate(script.reply)))


def _build_reply(turn: int, spoken: ScriptedReply) -> Reply:
    calls = tuple(
        ToolCall(id=f"call-{turn}-{number}", name=call.tool, arguments=call.arguments)
        for number, call in enumerate(spoken.call)
    )
    return Reply(message=Message(role=Role.ASSISTANT, content=spoken.text, tool_calls=calls))


def _parse_jsonl(text: str, path: Path) -> tuple[Recording, ...]:
    lines = [(number, line) for number, line in enumerate(text.split("\n"), start=1) if line.strip()]
    if not lines:
        raise UserError(f"{path}: holds no recording; give a trajectories.jsonl")
    return tuple(_parse_recording(line, f"{path}, line {number}") for number, line in lines)


def _parse_recording(line: str, place: str) -> Recording:
    try:
        data: Any = json.loads(line)
        prompt = tuple(Message.model_validate(message) for message in data["prompt"])
        replies = tuple(Reply.model_validate(turn["reply"]) for turn in data["turns"])
    except json.JSONDecodeError as error:
        raise UserError(f"{place}: {error}; a recording is one JSON object a line") from error
    except ValidationError as error:
        raise UserError(f"{place}: {_name_first(error)}; it was written by another version") from error
    except (KeyError, TypeError) as error:
        raise UserError(f"{place}: not a trajectory (it lacks {error}); give a trajectories.jsonl") from error
    return Recording(_find_task(prompt), replies)


def _find_task(messages: tuple[Message, ...]) -> str | None:
    return next((message.content for message in messages if message.role is Role.USER), None)


def _name_first(error: ValidationError) -> str:
    first = error.errors()[0]
    return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"

"""The form in which a model without tool calls writes them into its reply.

A call is `<tool_call name="TOOL">` with each argument between tags of its own name, as it is. Models that
learned another form of it, a JSON object between `<tool_call>` tags, are understood too.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import JsonValue

from cuda_agent.llm.arguments import parse_object
from cuda_agent.llm.chat import Message, ToolCall, ToolSchema

_OPENING = re.compile(r"<tool_call\b(?P<attributes>[^<>]*)>?")
_CLOSING = re.compile(r"</tool_call\s*>")
_NAME = re.compile(r"""\bname\s*=\s*(?:"([^"]*)"|'([^']*)'|([\w.-]+))""")
_ARGUMENT = re.compile(r"\s*<([A-Za-z_][\w-]*)>(.*?)</\1\s*>", re.DOTALL)
_RESULT = re.compile(r"<tool_result\b")
_END_OF_THOUGHT = "</think>"


@dataclass(frozen=True)
class Parsed:
    """What a reply's text holds."""

    prose: str
    """What stands before and between the calls."""
    calls: tuple[ToolCall, ...]
    """The calls, in order; unreadable ones have no arguments, and the text as it was."""


def parse_text(text: str, tools: Sequence[ToolSchema], *, turn: int) -> Parsed:
    """The calls in a reply, and the rest of it.

    A call within the model's thinking is none, nor is one after a result that the model made up.
    `turn` makes the calls' ids unique within the conversation.
    """
    thought, end, said = text.rpartition(_END_OF_THOUGHT)
    made_up = _RESULT.search(said)
    acted = said[: made_up.start()] if made_up else said
    openings = list(_OPENING.finditer(acted))
    if not openings:
        return Parsed(text.strip(), ())
    ends = [opening.start() for opening in openings[1:]] + [len(acted)]
    prose = [thought + end + acted[: openings[0].start()]]
    calls = []
    for number, (opening, stop) in enumerate(zip(openings, ends, strict=True)):
        closing = _CLOSING.search(acted, opening.end(), stop)
        inner = acted[opening.end() : closing.start() if closing else stop]
        name, arguments = _parse_call(opening["attributes"], inner, tools=tools)
        raw = "" if arguments is not None else acted[opening.start() : closing.end() if closing else stop]
        calls.append(
            ToolCall(id=f"call-{turn}-{number}", name=name, arguments=arguments, raw_arguments=raw.strip())
        )
        prose.append(acted[closing.end() : stop] if closing else "")
    return Parsed("\n".join(part.strip() for part in prose if part.strip()), tuple(calls))


def render_call(call: ToolCall) -> str:
    """The text of a call: what was written, where that could not be read."""
    if call.arguments is None:
        return call.raw_arguments
    parts = [f"<{name}>\n{_render(value)}\n</{name}>" for name, value in call.arguments.items()]
    return "\n".join([f'<tool_call name="{call.name}">', *parts, "</tool_call>"])


def render_reply(message: Message) -> str:
    """The text of a reply: what was said, and its calls."""
    return "\n".join(filter(None, [message.content, *map(render_call, message.tool_calls)]))


def find_words(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> tuple[str, ...]:
    """The words that a JSON Schema allows; none when it allows any."""
    named = definitions.get(schema.get("$ref", "").rpartition("/")[2], schema)
    return tuple(named.get("enum", ()))


def find_kinds(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> set[str]:
    """The JSON types that a JSON Schema allows, through its references and alternatives."""
    if "$ref" in schema:
        return find_kinds(definitions[schema["$ref"].rpartition("/")[2]], definitions)
    if "anyOf" in schema:
        return set().union(*(find_kinds(option, definitions) for option in schema["anyOf"]))
    return {schema["type"]} if "type" in schema else {"string"}


def _parse_call(
    attributes: str, inner: str, *, tools: Sequence[ToolSchema]
) -> tuple[str, dict[str, JsonValue] | None]:
    """The tool's name and the arguments; None where they cannot be read."""
    named = _NAME.search(attributes)
    name = next(filter(None, named.groups()), "") if named else ""
    if inner.lstrip().startswith("{"):
        written = parse_object(inner.strip())
        if name or written is None:
            return name, written
        return _unpack(written)
    texts: dict[str, str] = {}
    place = 0
    while argument := _ARGUMENT.match(inner, place):
        texts[argument[1]] = argument[2].removeprefix("\n").removesuffix("\n")
        place = argument.end()
    if inner[place:].strip() or not name:
        return name, None
    parameters = next((tool.parameters for tool in tools if tool.name == name), {})
    return name, {argument: _read(text, argument, parameters=parameters) for argument, text in texts.items()}


def _unpack(written: dict[str, JsonValue]) -> tuple[str, dict[str, JsonValue] | None]:
    """Name and arguments from one object that holds both."""
    name, arguments = written.get("name"), written.get("arguments", {})
    if isinstance(arguments, str):
        arguments = parse_object(arguments)
    if not isinstance(name, str):
        return "", None
    return name, arguments if isinstance(arguments, dict) else None


def _read(text: str, argument: str, *, parameters: Mapping[str, Any]) -> JsonValue:
    """A value: text where the tool takes text, else JSON. What is not JSON is left for the tool to refuse."""
    schema = parameters.get("properties", {}).get(argument, {})
    if find_words(schema, parameters.get("$defs", {})):
        return text.strip()
    if "string" in find_kinds(schema, parameters.get("$defs", {})):
        return text
    wrapped = parse_object(f'{{"value": {text.strip() or "null"}}}')
    return text if wrapped is None or set(wrapped) != {"value"} else wrapped["value"]


def _render(value: JsonValue) -> str:
    return value if isinstance(value, str) else json.dumps(value)

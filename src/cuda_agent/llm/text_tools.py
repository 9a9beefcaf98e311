"""Tool calls for a model that has none: as text, in both directions."""

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from itertools import groupby

import jinja2

from cuda_agent.llm.chat import ChatModel, Message, Reply, Role, ToolCall, ToolSchema
from cuda_agent.llm.text_form import find_kinds, find_words, parse_text, render_call


@dataclass(frozen=True)
class Argument:
    """A tool's argument, as the prompt tells of it."""

    name: str
    """How it is called."""
    kind: str
    """What it may be: text, number, or one of some words."""
    required: bool
    """Whether a call must have it."""
    description: str
    """What it means."""


class TextToolChat:
    """Asks another model without tools: explains them in the prompt, and reads the calls in its reply."""

    def __init__(self, chat: ChatModel) -> None:
        self._chat = chat
        self.name = chat.name
        """The other model's name."""

    def reply(self, messages: tuple[Message, ...], tools: tuple[ToolSchema, ...]) -> Reply:
        """The other model's answer, with the calls that its text holds.

        Raises:
            InfrastructureError: the other model could not be reached.
        """
        reply = self._chat.reply(render_messages(messages, tools), ())
        turn = sum(message.role is Role.ASSISTANT for message in messages)
        parsed = parse_text(reply.message.content, tools, turn=turn)
        message = Message(role=Role.ASSISTANT, content=parsed.prose, tool_calls=parsed.calls)
        return reply.model_copy(update={"message": message})


def render_messages(messages: Sequence[Message], tools: Sequence[ToolSchema]) -> tuple[Message, ...]:
    """The conversation in system, user and assistant messages without calls, in turns.

    Neighbours of one role become one message, because many chat templates refuse two in a row.
    """
    calls = {call.id: call for message in messages for call in message.tool_calls}
    explained = Message(role=Role.SYSTEM, content=explain_tools(tools))
    first = 1 if messages and messages[0].role is Role.SYSTEM else 0
    ordered = (*messages[:first], explained, *messages[first:])
    rendered = [_render(message, calls.get(message.tool_call_id or "")) for message in ordered]
    return tuple(
        Message(role=role, content="\n\n".join(message.content for message in group))
        for role, group in groupby(rendered, key=lambda message: message.role)
    )


def explain_tools(tools: Sequence[ToolSchema]) -> str:
    """How a call is written, and the tools there are: what the system message is lengthened by."""
    # The text is for a model, not a browser: nothing to escape.
    template = jinja2.Environment(undefined=jinja2.StrictUndefined, autoescape=False).from_string(
        _load("text_tools.jinja")
    )
    told = [
        {"name": tool.name, "description": tool.description, "arguments": describe_arguments(tool)}
        for tool in tools
    ]
    return template.render(tools=told).strip()


def describe_arguments(tool: ToolSchema) -> tuple[Argument, ...]:
    """A tool's arguments, from its JSON Schema."""
    definitions = tool.parameters.get("$defs", {})
    required = tool.parameters.get("required", ())
    described = []
    for name, schema in tool.parameters.get("properties", {}).items():
        kinds = find_kinds(schema, definitions) - {"null"}
        told = sorted("text" if kind == "string" else kind for kind in kinds)
        kind = ", ".join(find_words(schema, definitions)) or " or ".join(told)
        described.append(Argument(name, kind, name in required, schema.get("description", "")))
    return tuple(described)


def _render(message: Message, answered: ToolCall | None) -> Message:
    """One message without calls."""
    if message.role is Role.TOOL:
        name = answered.name if answered else ""
        result = f'<tool_result name="{name}">\n{message.content}\n</tool_result>'
        is_unreadable = answered is not None and answered.arguments is None
        text = f"{result}\n{_load('unreadable.md')}" if is_unreadable else result
        return Message(role=Role.USER, content=text)
    texts = [message.content, *map(render_call, message.tool_calls)]
    return Message(role=message.role, content="\n\n".join(filter(None, texts)))


def _load(name: str) -> str:
    return resources.files("cuda_agent.llm").joinpath("prompts", name).read_text(encoding="utf-8")

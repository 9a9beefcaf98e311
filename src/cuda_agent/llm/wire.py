"""Conversations as the chat completions protocol writes them. What comes back is read leniently."""

import itertools
import json
import re
from collections.abc import Collection
from typing import Any

from pydantic import BaseModel, JsonValue, NonNegativeInt, ValidationError

from cuda_agent.errors import InfrastructureError
from cuda_agent.llm.arguments import parse_object
from cuda_agent.llm.chat import FinishReason, Message, Reply, Role, ToolCall, ToolSchema, Usage
from cuda_agent.llm.endpoint import Prices
from cuda_agent.printable import make_printable

NAME_CHARACTERS = 64
"""The longest name of a tool that the protocol allows."""

SHOWN_CHARACTERS = 300
"""How much of an unusable answer an error shows."""


class _Function(BaseModel):
    name: str = ""
    arguments: JsonValue = ""


class _Call(BaseModel):
    id: str | None = None
    function: _Function


class _Part(BaseModel):
    text: str = ""


class _Message(BaseModel):
    content: str | list[_Part] | None = None
    refusal: str | None = None
    tool_calls: list[JsonValue] | None = None


class _Choice(BaseModel):
    message: _Message
    finish_reason: str | None = None


class _Usage(BaseModel):
    prompt_tokens: NonNegativeInt | None = None
    completion_tokens: NonNegativeInt | None = None


class _Completion(BaseModel):
    choices: list[_Choice]
    usage: _Usage | None = None


def build_messages(messages: Collection[Message]) -> list[dict[str, Any]]:
    """The conversation as a request has it."""
    return [_build_message(message) for message in messages]


def build_tools(tools: Collection[ToolSchema]) -> list[dict[str, Any]]:
    """The tools as a request has them."""
    return [{"type": "function", "function": tool.model_dump()} for tool in tools]


def parse_completion(text: str, *, taken_ids: Collection[str], prices: Prices) -> Reply:
    """The reply that an endpoint's answer holds; a call that cannot be read becomes an invalid call.

    A call without an id, or with one of `taken_ids` (the conversation's so far), gets a fresh one.

    Raises:
        InfrastructureError: it is not a chat completion; shows the beginning of what it is.
    """
    try:
        completion = _Completion.model_validate_json(text)
        choice = completion.choices[0]
    except (ValidationError, IndexError):
        raise InfrastructureError(f"the endpoint did not answer the chat: {show(text)}") from None
    usage = completion.usage or _Usage()
    return Reply(
        message=Message(
            role=Role.ASSISTANT,
            content=_join(choice.message.content) or choice.message.refusal or "",
            tool_calls=_parse_calls(choice.message.tool_calls or [], taken_ids=taken_ids),
        ),
        finish_reason=FinishReason.LENGTH if choice.finish_reason == "length" else FinishReason.STOP,
        usage=_count(usage.prompt_tokens or 0, usage.completion_tokens or 0, prices=prices),
    )


def show(text: str) -> str:
    """The beginning of what an endpoint said, as one harmless line."""
    line = make_printable(" ".join(text.split()))
    return line if len(line) <= SHOWN_CHARACTERS else f"{line[:SHOWN_CHARACTERS]}..."


def _build_message(message: Message) -> dict[str, Any]:
    built: dict[str, Any] = {"role": message.role.value, "content": message.content}
    if message.tool_calls:
        built["tool_calls"] = [_build_call(call) for call in message.tool_calls]
    if message.tool_call_id is not None:
        built["tool_call_id"] = message.tool_call_id
    return built


def _build_call(call: ToolCall) -> dict[str, Any]:
    """A call as it was made, in a form that no endpoint chokes on: many read the history's calls again."""
    unreadable = {"unreadable": call.raw_arguments}
    arguments = unreadable if call.arguments is None else call.arguments
    name = re.sub(r"[^A-Za-z0-9_-]", "_", call.name)[:NAME_CHARACTERS] or "unknown"
    return {"id": call.id, "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}


def _parse_calls(calls: list[JsonValue], *, taken_ids: Collection[str]) -> tuple[ToolCall, ...]:
    taken = set(taken_ids)
    parsed = []
    for call in calls:
        fresh_id = next(id for number in itertools.count(len(taken)) if (id := f"call-{number}") not in taken)
        parsed.append(_parse_call(call, fresh_id=fresh_id, taken_ids=taken))
        taken.add(parsed[-1].id)
    return tuple(parsed)


def _parse_call(call: JsonValue, *, fresh_id: str, taken_ids: Collection[str]) -> ToolCall:
    try:
        read = _Call.model_validate(call)
    except ValidationError:
        return ToolCall(id=fresh_id, name="", arguments=None, raw_arguments=json.dumps(call))
    written = read.function.arguments
    # Some servers send an object where the protocol has its text, or nothing where nothing is needed.
    raw = written if isinstance(written, str) else json.dumps(written)
    arguments = parse_object(raw or "{}")
    return ToolCall(
        id=read.id if read.id and read.id not in taken_ids else fresh_id,
        name=read.function.name,
        arguments=arguments,
        raw_arguments=raw if arguments is None else "",
    )


def _join(content: str | list[_Part] | None) -> str:
    return "".join(part.text for part in content) if isinstance(content, list) else content or ""


def _count(prompt_tokens: int, completion_tokens: int, *, prices: Prices) -> Usage:
    cost = (prompt_tokens * prices.prompt + completion_tokens * prices.completion) / 1e6
    return Usage(prompt_tokens=prompt_tokens, completion_tokens=completion_tokens, cost=cost)

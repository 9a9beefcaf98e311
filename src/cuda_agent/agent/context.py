"""Keeping a conversation within a model's window."""

import json
from collections.abc import Sequence

from cuda_agent.llm.chat import Message, Reply, Role, ToolSchema

CHARACTERS_PER_TOKEN = 3.0
"""A cautious figure: English and code take 3 to 4 characters a token."""

MESSAGE_TOKENS = 8
"""What a message costs beside its text."""

REFILL = 0.75
"""Elision goes on down to this share of the window, so that it is rare and a server's cache keeps its use."""


def estimate_tokens(messages: Sequence[Message], tools: Sequence[ToolSchema] = ()) -> int:
    """About how many tokens a conversation and its tools are, rather too many than too few."""
    characters = sum(len(tool.description) + len(json.dumps(tool.parameters)) for tool in tools)
    for message in messages:
        characters += len(message.content)
        for call in message.tool_calls:
            characters += len(call.name) + len(call.raw_arguments) + len(json.dumps(call.arguments))
    return int(characters / CHARACTERS_PER_TOKEN) + MESSAGE_TOKENS * len(messages)


def estimate_reply_tokens(reply: Reply) -> int:
    """Tokens of one reply: as counted by its server, else about."""
    return reply.usage.completion_tokens or estimate_tokens([reply.message])


def fit_messages(messages: Sequence[Message], *, limit_tokens: int) -> tuple[Message, ...] | None:
    """The conversation within `limit_tokens`: itself, or with old tool output replaced by a note.

    The oldest output goes first. The system and user messages, what the assistant said, and the
    answers to its last turn always stay. None when that is not enough.
    """
    fitted = list(messages)
    total = estimate_tokens(fitted)
    if total <= limit_tokens:
        return tuple(fitted)
    spoken = [index for index, message in enumerate(fitted) if message.role is Role.ASSISTANT]
    for index in range(spoken[-1] if spoken else 0):
        if total <= limit_tokens * REFILL:
            break
        shorter = _elide(fitted[index])
        total -= estimate_tokens([fitted[index]]) - estimate_tokens([shorter])
        fitted[index] = shorter
    return tuple(fitted) if total <= limit_tokens else None


def _elide(message: Message) -> Message:
    note = f"[{len(message.content)} characters of old output left out to save room]"
    if message.role is not Role.TOOL or len(message.content) <= len(note):
        return message
    return message.model_copy(update={"content": note})

"""Keeping a conversation within a model's window."""

import json
from collections.abc import Callable, Sequence

from cuda_agent.llm.chat import Message, Reply, Role, ToolSchema

CHARACTERS_PER_TOKEN = 3.0
"""A cautious figure: English and code take 3 to 4 characters a token."""

MESSAGE_TOKENS = 8
"""What a message costs beside its text."""

REFILL = 0.75
"""Elision goes on down to this share of the window, so that it is rare and a server's cache keeps its use."""

REPLY_SHARE = 0.25
"""At most this share of the window is left free for the next reply."""

LEAST_SHARE = 0.5
"""Texts are never taken for fewer tokens than this share of the estimate: some servers count new ones."""

WORTH_CHARACTERS = 200
"""Shorter output is never left out: the note would save nothing."""

Keep = Callable[[str], str]
"""Puts a text where it can be read again and says where; nothing when it cannot."""


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


class Window:
    """How much of a conversation a model is sent; learns from its server how many tokens texts are."""

    def __init__(self, limit_tokens: int, *, reply_tokens: int, tools: Sequence[ToolSchema]) -> None:
        """`limit_tokens` holds the tools, the conversation, and a reply of up to `reply_tokens`."""
        self._tools = tuple(tools)
        self._room_tokens = limit_tokens - min(reply_tokens, int(limit_tokens * REPLY_SHARE))
        self._true_share = 1.0

    def fit(self, messages: Sequence[Message], keep: Keep) -> tuple[Message, ...] | None:
        """The conversation as it fits, see `fit_messages`."""
        room_tokens = int(self._room_tokens / self._true_share) - estimate_tokens([], self._tools)
        return fit_messages(messages, limit_tokens=room_tokens, keep=keep)

    def learn(self, messages: Sequence[Message], reply: Reply) -> None:
        """Compare the server's count of what it was sent, where it gives one, with the estimate."""
        if reply.usage.prompt_tokens:
            share = reply.usage.prompt_tokens / estimate_tokens(messages, self._tools)
            self._true_share = max(LEAST_SHARE, share)


def fit_messages(messages: Sequence[Message], *, limit_tokens: int, keep: Keep) -> tuple[Message, ...] | None:
    """The conversation within `limit_tokens`: itself, or with old tool output replaced by a note.

    The oldest output goes first; `keep` puts it where the note says. The system and user messages, what
    the assistant said, and the answers to its last turn always stay. None when that is not enough.
    """
    fitted = list(messages)
    total = estimate_tokens(fitted)
    if total <= limit_tokens:
        return tuple(fitted)
    spoken = [index for index, message in enumerate(fitted) if message.role is Role.ASSISTANT]
    old = [index for index in range(spoken[-1] if spoken else 0) if _can_go(fitted[index])]
    for index in old:
        if total <= limit_tokens * REFILL:
            break
        shorter = _elide(fitted[index], keep)
        total -= estimate_tokens([fitted[index]]) - estimate_tokens([shorter])
        fitted[index] = shorter
    return tuple(fitted) if total <= limit_tokens else None


def _can_go(message: Message) -> bool:
    return message.role is Role.TOOL and len(message.content) > WORTH_CHARACTERS


def _elide(message: Message, keep: Keep) -> Message:
    place = keep(message.content)
    where = f"; read it again in {place}" if place else "; call again to see it"
    note = f"[{len(message.content)} characters of old output left out to save room{where}]"
    return message.model_copy(update={"content": note})

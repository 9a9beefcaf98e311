"""What an agent says to a model, and what comes back."""

from enum import StrEnum
from typing import Any, Protocol

from pydantic import JsonValue

from cuda_agent.config import Record


class Role(StrEnum):
    """Who speaks."""

    SYSTEM = "system"
    """The standing instructions."""
    USER = "user"
    """The task."""
    ASSISTANT = "assistant"
    """The model."""
    TOOL = "tool"
    """The environment, answering one tool call."""


class ToolCall(Record):
    """One action the model asks for."""

    id: str
    """Unique within the conversation; the answering tool message carries it."""
    name: str
    """The tool's name, as the model wrote it: it may name no tool there is."""
    arguments: dict[str, JsonValue] | None
    """The parsed arguments; None when what the model wrote is not a JSON object."""
    raw_arguments: str = ""
    """The arguments as the model wrote them, kept when they could not be parsed."""


class Message(Record):
    """One turn of a conversation."""

    role: Role
    """Who speaks."""
    content: str
    """The text; empty when an assistant only calls tools."""
    tool_calls: tuple[ToolCall, ...] = ()
    """What an assistant asks for."""
    tool_call_id: str | None = None
    """Which call a tool message answers."""


class ToolSchema(Record):
    """A tool as a model sees it."""

    name: str
    """The tool's name."""
    description: str
    """What it does, for the model to read."""
    parameters: dict[str, Any]
    """JSON Schema of the arguments object."""


class Usage(Record):
    """Tokens spent on one reply, as the model's server counts them (0 when it does not)."""

    prompt_tokens: int = 0
    """Tokens read."""
    completion_tokens: int = 0
    """Tokens written."""
    cost: float = 0.0
    """Their price, in the currency of the run's prices; 0 when no prices were given."""

    def __add__(self, other: "Usage") -> "Usage":
        """What both spent."""
        return Usage(
            prompt_tokens=self.prompt_tokens + other.prompt_tokens,
            completion_tokens=self.completion_tokens + other.completion_tokens,
            cost=self.cost + other.cost,
        )


class FinishReason(StrEnum):
    """Why a reply ended."""

    STOP = "stop"
    """The model ended its turn."""
    LENGTH = "length"
    """The per-turn cap cut it off."""


class Reply(Record):
    """What a model answered, with token ids and log-probabilities when it gives them."""

    message: Message
    """The assistant's turn."""
    finish_reason: FinishReason = FinishReason.STOP
    """Why it ended."""
    usage: Usage = Usage()
    """Tokens spent."""
    prompt_ids: tuple[int, ...] | None = None
    """The exact tokens read, when the model gives them."""
    completion_ids: tuple[int, ...] | None = None
    """The exact tokens sampled, when the model gives them."""
    completion_logprobs: tuple[float, ...] | None = None
    """Natural-log probability of each sampled token, as processed for sampling."""


class ChatModel(Protocol):
    """Anything that answers a conversation: an endpoint, a local checkpoint, a replay, the expert."""

    @property
    def name(self) -> str:
        """How run folders and tables name this policy."""
        ...

    def reply(self, messages: tuple[Message, ...], tools: tuple[ToolSchema, ...]) -> Reply:
        """Answer the conversation.

        Raises:
            InfrastructureError: the model could not be reached; the same call may be tried again.
        """
        ...

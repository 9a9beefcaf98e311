"""The loop of an agent: think, act, observe."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from cuda_agent.agent.context import estimate_reply_tokens, estimate_tokens, fit_messages
from cuda_agent.agent.limits import EpisodeLimits, LimitWatch
from cuda_agent.agent.tools.tool import InvalidCallError, Tool
from cuda_agent.agent.trajectory import StopReason, Turn
from cuda_agent.llm.chat import ChatModel, FinishReason, Message, Reply, Role, ToolCall

CUT_OFF = (
    "Your reply was cut off at its length limit, so nothing of it was carried out. Go on in smaller steps."
)


@dataclass(frozen=True)
class Stop:
    """Why a loop ended."""

    reason: StopReason
    """Which of the reasons."""
    detail: str
    """The limit that was reached; empty when the agent finished by itself."""


def run_loop(
    chat: ChatModel,
    tools: Mapping[str, Tool],
    *,
    prompt: tuple[Message, ...],
    limits: EpisodeLimits,
    on_turn: Callable[[Turn], None],
) -> Stop:
    """Let `chat` act through `tools` until it answers without a call or reaches a limit.

    `on_turn` gets each turn as soon as it is over.
    """
    schemas = tuple(tool.schema for tool in tools.values())
    room_tokens = limits.total_tokens - estimate_tokens([], schemas)
    watch = LimitWatch(limits)
    messages: tuple[Message, ...] = prompt
    while True:
        fitted = fit_messages(messages, limit_tokens=room_tokens)
        if fitted is None:
            return Stop(StopReason.MAX_TOKENS, f"{limits.total_tokens} tokens")
        start_s = time.monotonic()
        reply = chat.reply(fitted, schemas)
        acted_s = time.monotonic()
        observations, valid = _act(reply, tools, limits=limits)
        turn = Turn(
            reply=reply,
            observations=observations,
            seconds_model=acted_s - start_s,
            seconds_tools=time.monotonic() - acted_s,
        )
        on_turn(turn)
        if not observations:
            return Stop(StopReason.FINISHED, "")
        if (stop := watch.find_stop(turn, valid=valid)) is not None:
            return Stop(*stop)
        messages = (*fitted, reply.message, *observations)


def _act(
    reply: Reply, tools: Mapping[str, Tool], *, limits: EpisodeLimits
) -> tuple[tuple[Message, ...], bool]:
    """The observations of a reply (none when it ends the episode), and whether any call was usable."""
    calls = reply.message.tool_calls
    if reply.finish_reason is FinishReason.LENGTH or estimate_reply_tokens(reply) > limits.reply_tokens:
        return tuple(_answer(call, CUT_OFF) for call in calls) or (
            Message(role=Role.USER, content=CUT_OFF),
        ), False
    answers = [_call(call, tools) for call in calls]
    messages = tuple(_answer(call, text) for call, (text, _) in zip(calls, answers, strict=True))
    return messages, any(usable for _, usable in answers)


def _call(call: ToolCall, tools: Mapping[str, Tool]) -> tuple[str, bool]:
    """What one call brought, and whether it could be carried out as written."""
    if call.name not in tools:
        return f"error: there is no tool {call.name!r}; the tools are {', '.join(tools)}", False
    if call.arguments is None:
        return f"error: the arguments of {call.name} are not a JSON object; write them again", False
    try:
        return tools[call.name].run(call.arguments), True
    except InvalidCallError as error:
        return f"error: {error}", False


def _answer(call: ToolCall, text: str) -> Message:
    return Message(role=Role.TOOL, content=text, tool_call_id=call.id)

"""The loop of an agent: think, act, observe."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

from cuda_agent.agent.context import Keep, Window, estimate_reply_tokens
from cuda_agent.agent.interruption import Interruption
from cuda_agent.agent.limits import EpisodeLimits, LimitWatch
from cuda_agent.agent.tools.tool import InvalidCallError, Tool
from cuda_agent.agent.trajectory import StopReason, Turn
from cuda_agent.llm.chat import ChatModel, FinishReason, Message, Reply, Role, ToolCall

CUT_OFF = (
    "Your reply was cut off at its length limit, so nothing of it was carried out. Go on in smaller steps."
)

TIME_IS_OVER = "The episode's time is over."


@dataclass(frozen=True)
class Stop:
    """Why a loop ended."""

    reason: StopReason
    """Which of the reasons."""
    detail: str
    """The limit that was reached; empty when the agent finished by itself."""


@dataclass(frozen=True, kw_only=True)
class Surroundings:
    """What a loop has beside its model and its tools."""

    limits: EpisodeLimits
    """How long it may go on."""
    keep: Keep
    """Keeps old output that no longer fits the window."""
    on_turn: Callable[[Turn], None]
    """Gets each turn as soon as it is over."""
    interruption: Interruption
    """Ends it from outside."""


def run_loop(
    chat: ChatModel, tools: Mapping[str, Tool], *, prompt: tuple[Message, ...], around: Surroundings
) -> Stop:
    """Let `chat` act through `tools` until it answers without a call, reaches a limit, or is interrupted."""
    limits, call = around.limits, around.interruption.call
    schemas = tuple(tool.schema for tool in tools.values())
    window = Window(limits.total_tokens, reply_tokens=limits.reply_tokens, tools=schemas)
    watch = LimitWatch(limits)
    messages: tuple[Message, ...] = prompt
    while True:
        fitted = window.fit(messages, around.keep)
        if fitted is None:
            return Stop(StopReason.MAX_TOKENS, f"{limits.total_tokens} tokens")
        start_s = time.monotonic()
        try:
            reply = call(partial(chat.reply, fitted, schemas), timeout_s=watch.left_s)
        except TimeoutError:
            return Stop(*watch.tell_end())
        acted_s = time.monotonic()
        window.learn(fitted, reply)
        try:
            observations, valid = call(partial(_act, reply, tools, limits=limits), timeout_s=watch.left_s)
        except TimeoutError:
            observations, valid = _answer_all(reply, TIME_IS_OVER), True
        turn = Turn(
            reply=reply,
            observations=observations,
            seconds_model=acted_s - start_s,
            seconds_tools=time.monotonic() - acted_s,
            elided=sum(old is not new for old, new in zip(messages, fitted, strict=True)),
        )
        around.on_turn(turn)
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
        return _answer_all(reply, CUT_OFF), False
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


def _answer_all(reply: Reply, text: str) -> tuple[Message, ...]:
    """The same answer to every call, or to a reply without one."""
    answers = tuple(_answer(call, text) for call in reply.message.tool_calls)
    return answers or (Message(role=Role.USER, content=text),)


def _answer(call: ToolCall, text: str) -> Message:
    return Message(role=Role.TOOL, content=text, tool_call_id=call.id)

"""The loop acts, observes and stops for the right reason."""

import threading
import time
from collections.abc import Callable, Mapping

import pytest
from pydantic import JsonValue

from cuda_agent.agent.interruption import EpisodeInterruptedError, Interruption
from cuda_agent.agent.limits import EpisodeLimits
from cuda_agent.agent.loop import CUT_OFF, TIME_IS_OVER, Stop, Surroundings, run_loop
from cuda_agent.agent.tools.tool import InvalidCallError
from cuda_agent.agent.trajectory import StopReason, Turn
from cuda_agent.llm.chat import FinishReason, Message, Reply, Role, ToolCall, ToolSchema, Usage

PROMPT = (Message(role=Role.SYSTEM, content="rules"), Message(role=Role.USER, content="task"))


class EchoTool:
    """Says what it was told, and refuses to say `bad`."""

    schema = ToolSchema(name="echo", description="", parameters={})

    def __init__(self, times: int = 1) -> None:
        self.times = times

    def run(self, arguments: Mapping[str, JsonValue]) -> str:
        if arguments["text"] == "sleep":
            time.sleep(30.0)
        if arguments["text"] == "bad":
            raise InvalidCallError("text: not that")
        return str(arguments["text"]) * self.times


class FunctionChat:
    """Answers each turn with the next reply, or with what a function makes of the turn's number."""

    name = "function"

    def __init__(self, answer: Callable[[int], Reply]) -> None:
        self.answer = answer
        self.heard: list[tuple[Message, ...]] = []

    def reply(self, messages: tuple[Message, ...], tools: tuple[ToolSchema, ...]) -> Reply:
        assert [tool.name for tool in tools] == ["echo"]
        self.heard.append(messages)
        return self.answer(len(self.heard) - 1)


def say(*texts: str, name: str = "echo", finish: FinishReason = FinishReason.STOP, tokens: int = 1) -> Reply:
    calls = tuple(
        ToolCall(id=f"{number}", name=name, arguments={"text": text}) for number, text in enumerate(texts)
    )
    message = Message(role=Role.ASSISTANT, content="so", tool_calls=calls)
    return Reply(message=message, finish_reason=finish, usage=Usage(completion_tokens=tokens))


def run(chat: FunctionChat, times: int = 1, **limits: object) -> tuple[Stop, list[Turn]]:
    turns: list[Turn] = []
    around = Surroundings(
        limits=EpisodeLimits.model_validate({"idle_turns": 1000, **limits}),
        keep=lambda text: f"kept/{len(text)}",
        on_turn=turns.append,
        interruption=Interruption(),
    )
    stop = run_loop(chat, {"echo": EchoTool(times)}, prompt=PROMPT, around=around)
    return stop, turns


def test_it_acts_until_the_model_answers_without_a_call() -> None:
    chat = FunctionChat([say("a", "b"), say("c"), say()].__getitem__)
    stop, turns = run(chat)
    assert stop == Stop(StopReason.FINISHED, "")
    assert [[message.content for message in turn.observations] for turn in turns] == [["a", "b"], ["c"], []]
    assert [message.tool_call_id for message in turns[0].observations] == ["0", "1"]
    assert chat.heard[0] == PROMPT
    assert chat.heard[2] == (
        *PROMPT,
        turns[0].reply.message,
        *turns[0].observations,
        turns[1].reply.message,
        *turns[1].observations,
    )


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        (say("x", name="sudo"), "error: there is no tool 'sudo'; the tools are echo"),
        (say("bad"), "error: text: not that"),
        (
            Reply(
                message=Message(
                    role=Role.ASSISTANT,
                    content="",
                    tool_calls=(ToolCall(id="0", name="echo", arguments=None, raw_arguments="{"),),
                )
            ),
            "error: the arguments of echo are not a JSON object; write them again",
        ),
        (say("x", finish=FinishReason.LENGTH), CUT_OFF),
        (say("x", tokens=40_000), CUT_OFF),
        (say(finish=FinishReason.LENGTH), CUT_OFF),
    ],
    ids=["unknown tool", "bad arguments", "no JSON", "cut off", "too long", "cut off in prose"],
)
def test_an_unusable_reply_is_answered_and_too_many_end_the_episode(reply: Reply, words: str) -> None:
    stop, turns = run(FunctionChat(lambda _: reply), invalid_turns=2)
    assert stop.reason is StopReason.INVALID_CALLS
    assert len(turns) == 2
    assert [message.content for message in turns[0].observations] == [words]


def test_one_usable_call_makes_a_turn_valid() -> None:
    stop, turns = run(FunctionChat(lambda turn: say("bad", str(turn))), invalid_turns=2, turns=4)
    assert (stop.reason, len(turns)) == (StopReason.MAX_TURNS, 4)


def test_repeating_itself_ends_the_episode() -> None:
    stop, turns = run(FunctionChat(lambda _: say("again")), repeated_turns=3)
    assert (stop.reason, len(turns)) == (StopReason.STUCK, 3)


def test_old_output_makes_room_and_then_the_tokens_run_out() -> None:
    chat = FunctionChat(lambda turn: say(f"{turn:04}"))
    stop, turns = run(chat, times=750, total_tokens=4000)
    assert stop.reason is StopReason.MAX_TOKENS
    assert len(turns) > 12
    assert len(turns[0].observations[0].content) == 3000
    heard = chat.heard[-1]
    assert heard[3].content.endswith("left out to save room; read it again in kept/3000]")
    assert [turn.elided for turn in turns[:2]] == [0, 0]
    assert sum(turn.elided for turn in turns) >= len(turns) - 2
    assert heard[-1] == turns[-2].observations[0]


def test_time_ends_the_loop_while_the_model_thinks_and_while_a_tool_works() -> None:
    def think(turn: int) -> Reply:
        time.sleep(30.0)
        return say()

    start_s = time.monotonic()
    stop, turns = run(FunctionChat(think), episode_s=0.1)
    assert (stop, turns) == (Stop(StopReason.WALL_CLOCK, "0.1 seconds"), [])
    stop, turns = run(FunctionChat(lambda turn: say("sleep")), episode_s=0.1)
    assert stop.reason is StopReason.WALL_CLOCK
    assert [message.content for message in turns[0].observations] == [TIME_IS_OVER]
    assert time.monotonic() - start_s < 5.0


def test_an_interruption_ends_the_loop_at_once() -> None:
    turns: list[Turn] = []
    interruption = Interruption()
    around = Surroundings(limits=EpisodeLimits(), keep=str, on_turn=turns.append, interruption=interruption)
    threading.Timer(0.1, interruption.set).start()
    start_s = time.monotonic()
    chat = FunctionChat(lambda turn: say("sleep"))
    with pytest.raises(EpisodeInterruptedError):
        run_loop(chat, {"echo": EchoTool()}, prompt=PROMPT, around=around)
    assert time.monotonic() - start_s < 5.0
    assert turns == []

"""Every limit ends an episode with its own reason, and not one turn too soon."""

import time

import pytest

from cuda_agent.agent.limits import EpisodeLimits, LimitWatch
from cuda_agent.agent.trajectory import StopReason, Turn
from cuda_agent.llm.chat import Message, Reply, Role, ToolCall


def build_turn(command: str, answer: str = "ok") -> Turn:
    call = ToolCall(id="c", name="bash", arguments={"command": command})
    return Turn(
        reply=Reply(message=Message(role=Role.ASSISTANT, content="", tool_calls=(call,))),
        observations=(Message(role=Role.TOOL, content=answer, tool_call_id="c"),),
        seconds_model=0.0,
        seconds_tools=0.0,
    )


def find_reasons(watch: LimitWatch, turns: list[tuple[Turn, bool]]) -> list[StopReason | None]:
    stops = [watch.find_stop(turn, valid=valid) for turn, valid in turns]
    return [stop and stop[0] for stop in stops]


def test_turns() -> None:
    turns = [(build_turn(str(number)), True) for number in range(3)]
    watch = LimitWatch(EpisodeLimits(turns=3))
    assert find_reasons(watch, turns) == [None, None, StopReason.MAX_TURNS]


def test_invalid_turns_count_only_in_a_row() -> None:
    pattern = [False, True, False, False]
    turns = [(build_turn(str(number)), valid) for number, valid in enumerate(pattern)]
    watch = LimitWatch(EpisodeLimits(invalid_turns=2))
    assert find_reasons(watch, turns) == [None, None, None, StopReason.INVALID_CALLS]


def test_the_same_action_again_and_again_is_stuck_whatever_it_brings() -> None:
    actions = [("profile", "1 ms"), ("profile", "2 ms"), ("ls", "a"), ("profile", "3 ms")]
    actions += [("profile", "4 ms"), ("profile", "5 ms")]
    turns = [(build_turn(command, answer), True) for command, answer in actions]
    watch = LimitWatch(EpisodeLimits(repeated_turns=3))
    assert find_reasons(watch, turns) == [None] * 5 + [StopReason.STUCK]


def test_looking_on_for_ever_is_stuck_too() -> None:
    turns = [(build_turn(f"cat {number}"), True) for number in range(4)]
    watch = LimitWatch(EpisodeLimits(idle_turns=3))
    assert find_reasons(watch, [turns[0], (build_turn("make"), True), *turns[1:]]) == [
        None,
        None,
        None,
        None,
        StopReason.STUCK,
    ]


def test_less_output_is_shown_where_the_window_is_small() -> None:
    assert EpisodeLimits().shown_characters == 16_000
    assert EpisodeLimits(total_tokens=2048).shown_characters == 1536


def test_wall_clock() -> None:
    watch = LimitWatch(EpisodeLimits(episode_s=0.05))
    assert watch.find_stop(build_turn("a"), valid=True) is None
    assert 0.0 < watch.left_s <= 0.05
    time.sleep(0.06)
    stop = watch.find_stop(build_turn("b"), valid=True)
    assert stop is not None
    assert stop[0] is StopReason.WALL_CLOCK
    assert "0.05 seconds" in stop[1]
    assert watch.left_s == 0.0


@pytest.mark.parametrize(
    "field", ["turns", "total_tokens", "command_s", "episode_s", "repeated_turns", "idle_turns"]
)
def test_a_limit_must_be_positive(field: str) -> None:
    with pytest.raises(ValueError, match="greater than 0"):
        EpisodeLimits.model_validate({field: 0})

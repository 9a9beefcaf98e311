"""Which trajectories are learnt from, and why the others are not."""

from typing import Any

import pytest

from cuda_agent.agent.trajectory import Trajectory, Turn
from cuda_agent.llm.chat import FinishReason, Message, Role, ToolCall, ToolSchema
from cuda_agent.rl.config import OptimiserConfig, RftConfig
from cuda_agent.rl.imitate import Imitation
from cuda_agent.rl.rft import Rejection, filter_trajectories, find_rejection
from tests.rl.toy import build_policy, build_trajectory, build_turn

CONFIG = RftConfig(
    batch=4,
    micro_batch=4,
    device="cpu",
    repeated_turns=3,
    idle_turns=5,
    actor=OptimiserConfig(learning_rate=0.02),
)
BASH = ToolSchema(name="bash", description="", parameters={})
BUILD = ToolCall(id="1", name="bash", arguments={"command": "make"})


def build_episode(*calls: ToolCall, reward: float = 1.0, **reply: Any) -> Trajectory:  # noqa: ANN401
    """An episode with one turn a call; each turn reads all tokens before it, and one of the tool's."""
    turns: list[Turn] = []
    ids: tuple[int, ...] = (0,)
    for place, call in enumerate(calls):
        turn = build_turn(ids, (2, 3), logprobs=(-1.0, -1.0))
        message = Message(role=Role.ASSISTANT, content="", tool_calls=(call,))
        answer = Message(role=Role.TOOL, content=f"done {place}", tool_call_id=call.id)
        changed = turn.reply.model_copy(update={"message": message, **reply})
        turns.append(turn.model_copy(update={"reply": changed, "observations": (answer,)}))
        ids = (*ids, 2, 3, 7)
    return build_trajectory(*turns, reward=reward).model_copy(update={"tools": (BASH,)})


def name_command(command: str) -> ToolCall:
    return ToolCall(id="1", name="bash", arguments={"command": command})


BAD = {
    "failed": (build_episode(BUILD, reward=-1.0), Rejection.REWARD),
    "not judged": (build_episode(BUILD, reward=0.0), Rejection.REWARD),
    "cut": (build_episode(BUILD, finish_reason=FinishReason.LENGTH), Rejection.CUT),
    "invented": (build_episode(ToolCall(id="1", name="browse", arguments={})), Rejection.INVENTED),
    "no object": (build_episode(ToolCall(id="1", name="bash", arguments=None)), Rejection.MALFORMED),
    "wrong type": (
        build_episode(ToolCall(id="1", name="bash", arguments={"command": ["a"]})),
        Rejection.MALFORMED,
    ),
    "unknown argument": (
        build_episode(ToolCall(id="1", name="bash", arguments={"command": "make", "speed": 9})),
        Rejection.MALFORMED,
    ),
    "repeating": (build_episode(BUILD, BUILD, BUILD), Rejection.STUCK),
    "only looking": (
        build_episode(*map(name_command, ("ls", "ls a", "ls b", "ls c", "ls d"))),
        Rejection.STUCK,
    ),
    "without tokens": (build_episode(BUILD, completion_ids=None), Rejection.BROKEN),
    "without turns": (build_episode(), Rejection.BROKEN),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_trajectory_is_left_out_for_its_reason(name: str) -> None:
    trajectory, reason = BAD[name]
    assert find_rejection(trajectory, CONFIG) == reason


def test_all_are_counted_and_the_good_ones_kept() -> None:
    good = build_episode(BUILD, name_command("make test"), BUILD, reward=2.0)
    kept, record = filter_trajectories([good, *(bad for bad, _ in BAD.values()), good], CONFIG)
    assert [sequence.reward for sequence in kept] == [2.0, 2.0]
    assert kept[0].ids == (0, 2, 3, 7, 2, 3, 7, 2, 3)
    assert record.kept == 2
    assert record.rejected == {
        Rejection.BROKEN: 2, Rejection.CUT: 1, Rejection.INVENTED: 1, Rejection.MALFORMED: 3,
        Rejection.REWARD: 2, Rejection.STUCK: 2,
    }  # fmt: skip
    assert record.kept + sum(record.rejected.values()) == len(BAD) + 2


def test_what_is_kept_becomes_likelier() -> None:
    kept, _ = filter_trajectories([build_episode(BUILD, reward=3.0)] * 4, CONFIG)
    stage = Imitation(CONFIG, build_policy(), sequences=kept)
    losses = [stage.take_step(step).metrics["train/loss"] for step in range(10)]
    assert losses[-1] < 0.5 * losses[0]

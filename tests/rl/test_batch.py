"""A trajectory's tokens become tensors without one being moved, changed or lost."""

import pytest
import torch

from cuda_agent.agent.trajectory import StopReason, Trajectory, Turn
from cuda_agent.errors import UserError
from cuda_agent.llm.chat import Message, Reply, Role
from cuda_agent.rl.batch import TokenSequence, build_batch, build_sequence
from cuda_agent.tasks.target import Target


def build_turn(
    prompt: tuple[int, ...] | None, sampled: tuple[int, ...], *, logprobs: tuple[float, ...] | None = None
) -> Turn:
    reply = Reply(
        message=Message(role=Role.ASSISTANT, content=""),
        prompt_ids=prompt,
        completion_ids=sampled,
        completion_logprobs=tuple(-float(token) for token in sampled) if logprobs is None else logprobs,
    )
    answer = Message(role=Role.TOOL, content="never read when it is the last")
    return Turn(reply=reply, observations=(answer,), seconds_model=0.0, seconds_tools=0.0)


def build_trajectory(*turns: Turn, reward: float = 2.0) -> Trajectory:
    return Trajectory(
        task_id="one",
        target=Target.CPU,
        policy="test",
        prompt=(),
        tools=(),
        turns=turns,
        stop_reason=StopReason.MAX_TURNS,
        reward=reward,
    )


def test_two_turns_become_one_sequence() -> None:
    turns = build_turn((7, 8), (1, 2)), build_turn((7, 8, 1, 2, 9), (3,))
    sequence = build_sequence(build_trajectory(*turns))
    assert sequence.ids == (7, 8, 1, 2, 9, 3)
    assert sequence.is_generated == (False, False, True, True, False, True)
    assert sequence.logprobs == (0.0, 0.0, -1.0, -2.0, 0.0, -3.0)
    assert sequence.reward == 2.0


def test_a_prompt_that_forgets_is_refused() -> None:
    turns = build_turn((7, 8), (1, 2)), build_turn((7, 8, 1, 5, 9), (3,))
    with pytest.raises(UserError, match="one, turn 1: its prompt does not begin with the 4 tokens"):
        build_sequence(build_trajectory(*turns))


def test_a_policy_without_tokens_is_refused() -> None:
    with pytest.raises(UserError, match="turn 0: the policy recorded no token ids"):
        build_sequence(build_trajectory(build_turn(None, (1,))))


def test_a_damaged_record_is_refused() -> None:
    with pytest.raises(UserError, match="2 sampled tokens with 1 log-probabilities"):
        build_sequence(build_trajectory(build_turn((7,), (1, 2), logprobs=(-1.0,))))


def test_batch_is_padded_and_the_reward_sits_on_the_last_generated_token() -> None:
    long = TokenSequence((7, 8, 1, 9, 3), (False, False, True, False, True), (0, 0, -0.5, 0, -1.5), 3.0)
    short = TokenSequence((7, 4), (False, True), (0.0, -0.25), -1.0)
    batch = build_batch([long, short])
    assert batch.ids_BT.tolist() == [[7, 8, 1, 9, 3], [7, 4, 0, 0, 0]]
    assert batch.is_token_BT.tolist() == [[True] * 5, [True, True, False, False, False]]
    assert batch.is_generated_BT.tolist() == [[False, False, True, False, True], [False, True, *[False] * 3]]
    assert batch.rollout_logprobs_BT.tolist() == [[0, 0, -0.5, 0, -1.5], [0, -0.25, 0, 0, 0]]
    assert batch.rewards_BT.tolist() == [[0, 0, 0, 0, 3.0], [0, -1.0, 0, 0, 0]]


def test_reward_is_not_lost_when_a_tool_token_is_last() -> None:
    batch = build_batch([TokenSequence((7, 1, 9), (False, True, False), (0, -1, 0), 3.0)])
    assert batch.rewards_BT.tolist() == [[0, 3.0, 0]]


def test_nothing_generated_is_legal() -> None:
    assert build_sequence(build_trajectory()).ids == ()
    silent = TokenSequence((7,), (False,), (0.0,), -1.0)
    batch = build_batch([silent, build_sequence(build_trajectory())])
    assert batch.ids_BT.shape == (2, 1)
    assert not batch.is_generated_BT.any()
    assert not batch.rewards_BT.any()
    assert build_batch([]).ids_BT.shape == (0, 0)


def test_a_first_token_cannot_be_generated() -> None:
    with pytest.raises(ValueError, match="sequence 0 begins with a generated token"):
        build_batch([TokenSequence((1,), (True,), (-1.0,), 1.0)])


def test_batch_moves_whole() -> None:
    batch = build_batch([TokenSequence((7, 1), (False, True), (0.0, -1.0), 1.0)])
    moved = batch.to(torch.device("meta"))
    assert {tensor.device.type for tensor in vars(moved).values()} == {"meta"}

"""PPO on single answers is PPO's update, on episodes of one reply."""

import pytest

from cuda_agent.errors import UserError
from cuda_agent.rl.config import OptimiserConfig, SingleTurnConfig
from cuda_agent.rl.policy import build_critic
from cuda_agent.rl.single_turn import SingleTurn
from tests.rl.toy import TASKS, ToyRollout, build_policy

CONFIG = SingleTurnConfig(
    batch=24, micro_batch=24, device="cpu", epochs=2,
    actor=OptimiserConfig(learning_rate=2e-2), critic=OptimiserConfig(learning_rate=2e-2),
)  # fmt: skip


def build_stage(turns: int) -> SingleTurn:
    policy = build_policy()
    critic = build_critic(policy.model, seed=0)
    return SingleTurn(CONFIG, policy, critic=critic, tasks=TASKS, rollout=ToyRollout(turns))


def test_it_learns_from_single_answers() -> None:
    stage = build_stage(turns=1)
    figures = [stage.take_step(step).metrics for step in range(8)]
    assert figures[-1]["critic/rewards/mean"] > figures[0]["critic/rewards/mean"] + 0.3
    assert figures[0]["num_turns/mean"] == 1.0


def test_episodes_of_several_turns_are_refused() -> None:
    with pytest.raises(UserError, match="an episode of 2 turns, and a single answer has one"):
        build_stage(turns=2).take_step(0)

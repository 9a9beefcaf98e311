"""Value pretraining: the critic comes to know which episodes end well."""

import logging

import pytest

from cuda_agent.agent.trajectory import StopReason, Trajectory
from cuda_agent.errors import UserError
from cuda_agent.rl import value_pretraining
from cuda_agent.rl.batch import build_batch
from cuda_agent.rl.config import OptimiserConfig, ValueConfig
from cuda_agent.rl.policy import build_critic, compute_values
from cuda_agent.rl.value_pretraining import ValuePretraining, build_value_sequences
from tests.rl.test_rollout import build_faulty_evaluation
from tests.rl.toy import build_policy, build_sequences, build_trajectory, build_turn

CONFIG = ValueConfig(
    steps=30, batch=16, micro_batch=8, device="cpu", critic=OptimiserConfig(learning_rate=0.01)
)


def test_values_become_what_episodes_earn() -> None:
    critic = build_critic(build_policy().model, seed=0)
    sequences = build_sequences(32)
    stage = ValuePretraining(CONFIG, critic, sequences=sequences)
    figures = [stage.take_step(step).metrics for step in range(CONFIG.steps)]
    assert figures[-1]["critic/vf_loss"] < 0.2 * figures[0]["critic/vf_loss"]
    assert figures[-1]["critic/vf_explained_var"] > 0.8
    batch = build_batch(sequences)
    values = compute_values(critic, batch)[:, 2].detach()
    won = batch.rewards_BT.sum(dim=1) > 0
    assert float(values[won].mean()) > 0.6
    assert float(values[~won].mean()) < -0.6


def test_nothing_to_value_is_an_error() -> None:
    with pytest.raises(UserError, match="nothing to value"):
        ValuePretraining(CONFIG, build_critic(build_policy().model, seed=0), sequences=[])


def build_faults() -> tuple[Trajectory, Trajectory]:
    """An episode whose task is not judged, and one whose machine failed."""
    episode = build_trajectory(build_turn((1, 2), (3,), logprobs=(-0.5,)), reward=0.0)
    unjudged = build_faulty_evaluation(episode.task_id)
    failed = {"stop_reason": StopReason.POLICY_ERROR, "stop_detail": "InfrastructureError: no memory"}
    return episode.model_copy(update={"final": unjudged}), episode.model_copy(update=failed)


def test_what_says_nothing_of_the_policy_is_left_out_and_counted(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Of its own: other programs' settings of logging may have switched the module's off.
    logger = logging.Logger("told")
    logger.addHandler(caplog.handler)
    monkeypatch.setattr(value_pretraining, "_logger", logger)
    good, bad = (
        build_trajectory(build_turn((1, 2), (3,), logprobs=(-0.5,)), reward=reward) for reward in (2.0, -1.0)
    )
    unjudged, failed = build_faults()
    sequences = build_value_sequences([good, unjudged, failed, bad, unjudged])
    assert [sequence.reward for sequence in sequences] == [2.0, -1.0]
    assert "3 of 5 episodes say nothing of the policy and are left out: 2 task_at_fault, 1 inf" in caplog.text
    caplog.clear()
    assert len(build_value_sequences([good, bad])) == 2
    assert not caplog.records


def test_nothing_but_faults_is_an_error() -> None:
    with pytest.raises(UserError, match="at fault in every episode"):
        build_value_sequences(build_faults())

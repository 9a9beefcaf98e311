"""Value pretraining: the critic comes to know which episodes end well."""

import pytest

from cuda_agent.errors import UserError
from cuda_agent.rl.batch import build_batch
from cuda_agent.rl.config import OptimiserConfig, ValueConfig
from cuda_agent.rl.policy import build_critic, compute_values
from cuda_agent.rl.value_pretraining import ValuePretraining
from tests.rl.toy import build_policy, build_sequences

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

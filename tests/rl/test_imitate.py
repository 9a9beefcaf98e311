"""Imitation: what was shown becomes likelier, and what was only read does not."""

import pytest

from cuda_agent.errors import UserError
from cuda_agent.rl.batch import TokenSequence, build_batch
from cuda_agent.rl.config import ImitateConfig, OptimiserConfig
from cuda_agent.rl.imitate import Imitation
from cuda_agent.rl.policy import score_tokens
from tests.rl.toy import build_policy, build_sequences

CONFIG = ImitateConfig(
    steps=20, batch=8, micro_batch=4, device="cpu", actor=OptimiserConfig(learning_rate=0.02)
)


def test_the_loss_falls() -> None:
    policy, sequences = build_policy(), build_sequences(20)
    stage = Imitation(CONFIG, policy, sequences=sequences)
    losses = [stage.take_step(step).metrics["train/loss"] for step in range(CONFIG.steps)]
    assert losses[0] == pytest.approx(2.48, abs=0.3)  # ln 12: nothing is known
    assert losses[-1] < 0.5
    logprobs = score_tokens(policy.model, build_batch(sequences)).logprobs_BT.detach()
    assert float(logprobs[:, 2].exp().mean()) > 0.6
    assert float(logprobs[:, 4].exp().mean()) < 0.3  # read, and drawn from seven at random


def test_a_policy_without_an_example_is_an_error() -> None:
    silent = TokenSequence(ids=(0, 1), is_generated=(False, False), logprobs=(0.0, 0.0), reward=1.0)
    with pytest.raises(UserError, match="no episode has a generated token"):
        Imitation(CONFIG, build_policy(), sequences=[silent])

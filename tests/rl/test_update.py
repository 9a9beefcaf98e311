"""A step of PPO: only generated tokens move anything, in whatever parts it is computed."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor
from transformers import PreTrainedModel

from cuda_agent.rl.batch import Batch, TokenSequence, build_batch
from cuda_agent.rl.config import OptimiserConfig, PpoConfig
from cuda_agent.rl.experience import build_experience
from cuda_agent.rl.learner import Learner
from cuda_agent.rl.losses import compute_mean
from cuda_agent.rl.policy import build_critic
from cuda_agent.rl.update import update
from tests.rl.toy import build_policy, build_sequences


def build_learners() -> tuple[Learner, Learner]:
    actor = build_policy().model
    critic = build_critic(actor, seed=0)
    options = OptimiserConfig(learning_rate=0.01)
    return Learner(actor, options), Learner(critic, options)


def run_update(batch: Batch, **options: Any) -> tuple[dict[str, float], list[Tensor]]:  # noqa: ANN401
    """The figures of one update, and all weights after it."""
    actor, critic = build_learners()
    figures = update(actor, critic, batch=batch, config=PpoConfig(**options), step=0)
    return figures, [*actor.model.parameters(), *critic.model.parameters()]


def keep_reading(model: PreTrainedModel, ids: Tensor) -> None:
    """Let a network read the same tokens whatever the batch says: only what they count for differs."""
    forward: Callable[..., Any] = model.forward
    model.forward = lambda input_ids, **rest: forward(input_ids=ids, **rest)


@pytest.mark.parametrize(("place", "moves"), [(4, False), (1, False), (3, True)])
def test_flipping_a_tool_token_changes_no_gradient(place: int, moves: bool) -> None:
    """Tokens 0, 1 and 4 were read, 2, 3 and 5 generated."""
    batch = build_batch(build_sequences(6))
    flipped = replace(
        batch, ids_BT=batch.ids_BT.clone(), rollout_logprobs_BT=batch.rollout_logprobs_BT.clone()
    )
    flipped.ids_BT[:, place] = (flipped.ids_BT[:, place] + 1) % 12
    flipped.rollout_logprobs_BT[:, place] = -9.0
    weights = []
    for one in (batch, flipped):
        actor, critic = build_learners()
        keep_reading(actor.model, batch.ids_BT)
        keep_reading(critic.model, batch.ids_BT)
        update(actor, critic, batch=one, config=PpoConfig(), step=0)
        weights.append([*actor.model.parameters(), *critic.model.parameters()])
    assert moves == any(not torch.equal(a, b) for a, b in zip(*weights, strict=True))


def test_micro_batches_are_for_memory_alone() -> None:
    batch = build_batch(build_sequences(6))
    figures, weights = run_update(batch, micro_batch=6)
    others, other_weights = run_update(batch, micro_batch=2)
    assert others == pytest.approx(figures, rel=1e-3, abs=1e-5, nan_ok=True)
    for mine, its in zip(weights, other_weights, strict=True):
        torch.testing.assert_close(mine, its, rtol=1e-3, atol=1e-5)


def test_the_first_update_is_on_the_policy_that_sampled() -> None:
    """The ratio is 1 before the update, so that its loss is what the advantages say."""
    batch = build_batch(build_sequences(6))
    figures, _ = run_update(batch, normalise=False)
    actor, critic = build_learners()
    advantages = build_experience(
        actor.model, critic.model, batch=batch, config=PpoConfig(normalise=False)
    ).advantages_BT
    expected = -float(compute_mean(advantages, batch.is_generated_BT))
    assert figures["actor/pg_loss"] == pytest.approx(expected, abs=1e-6)
    assert figures["actor/lr"] == 0.01
    assert 1.0 < figures["actor/ratio_max"] < 1.5


def test_more_epochs_move_further() -> None:
    batch = build_batch(build_sequences(6))
    once, _ = run_update(batch)
    often, _ = run_update(batch, epochs=4, minibatches=2)
    assert often["rollout_corr/kl"] == once["rollout_corr/kl"]
    assert often["actor/ratio_max"] > once["actor/ratio_max"] > 1.0


def test_trajectories_without_a_generated_token_are_legal() -> None:
    """Field report U61."""
    silent = TokenSequence(ids=(0, 1), is_generated=(False, False), logprobs=(0.0, 0.0), reward=-1.0)
    figures, weights = run_update(build_batch([silent, silent]), micro_batch=1)
    assert figures["actor/pg_loss"] == 0.0
    assert all(bool(weight.isfinite().all()) for weight in weights)
    empty = TokenSequence(ids=(), is_generated=(), logprobs=(), reward=-1.0)
    some = build_batch([*build_sequences(2), empty])
    apart, together = (run_update(some, micro_batch=size)[0]["actor/grad_norm"] for size in (1, 3))
    assert apart == pytest.approx(together, rel=1e-4)
    assert together > 0.0

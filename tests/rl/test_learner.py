"""One update: of the right size, at the right rate, and none from a gradient that is not finite."""

import pytest
import torch
from torch import Tensor

from cuda_agent.rl.config import OptimiserConfig
from cuda_agent.rl.learner import Learner, compute_weight
from cuda_agent.rl.losses import Mean
from tests.rl.toy import build_policy


def build_learner(*, warmup_steps: int = 0) -> Learner:
    return Learner(build_policy().model, OptimiserConfig(learning_rate=0.1, warmup_steps=warmup_steps))


def compute_loss(learner: Learner) -> Tensor:
    loss: Tensor = learner.model(input_ids=torch.tensor([[1, 2, 3]])).logits.square().mean()
    return loss


def test_parts_add_up_to_one_update() -> None:
    whole, parts = build_learner(), build_learner()
    one = whole.learn([compute_loss(whole)], step=0)
    two = parts.learn((0.5 * compute_loss(parts) for _ in range(2)), step=0)
    assert one == pytest.approx(two)
    for mine, its in zip(whole.model.parameters(), parts.model.parameters(), strict=True):
        torch.testing.assert_close(mine, its)


def test_the_rate_rises_during_the_warm_up() -> None:
    learner = build_learner(warmup_steps=4)
    rates = [learner.learn([compute_loss(learner)], step=step)["lr"] for step in range(6)]
    assert rates == pytest.approx([0.02, 0.04, 0.06, 0.08, 0.1, 0.1])


def test_a_gradient_that_is_not_finite_changes_nothing() -> None:
    learner = build_learner()
    before = [weight.clone() for weight in learner.model.parameters()]
    figures = learner.learn([compute_loss(learner) * float("nan")], step=0)
    assert figures["grad_norm"] != figures["grad_norm"]
    assert all(torch.equal(a, b) for a, b in zip(before, learner.model.parameters(), strict=True))


def test_weights_of_parts() -> None:
    whole = torch.tensor([[True, True, True], [True, False, False], [False, False, False]])
    assert compute_weight(whole[:1], whole, mean=Mean.TRAJECTORY) == 0.5
    assert compute_weight(whole[:1], whole, mean=Mean.TOKEN) == 0.75
    assert compute_weight(whole[2:], whole, mean=Mean.TRAJECTORY) == 0.0
    assert compute_weight(whole[2:], whole[2:], mean=Mean.TOKEN) == 0.0

"""The losses, by hand, and by what autograd says of tokens that nobody sampled."""

import math

import pytest
import torch
from torch import Tensor

from cuda_agent.rl.losses import (
    Mean,
    compute_entropy,
    compute_log_ratio,
    compute_logprobs,
    compute_mean,
    compute_policy_loss,
    compute_rft_loss,
    compute_value_loss,
)

# Two trajectories: one with three generated tokens and a tool token between them, one with a single token.
IS_GENERATED = torch.tensor([[False, True, True, False, True], [False, True, False, False, False]])


def test_mean_is_over_tokens_and_then_trajectories() -> None:
    terms = torch.tensor([[9.0, 1.0, 2.0, 9.0, 3.0], [9.0, 10.0, 9.0, 9.0, 9.0]])
    assert compute_mean(terms, IS_GENERATED).item() == pytest.approx((2 + 10) / 2)
    assert compute_mean(terms, IS_GENERATED, mean=Mean.TOKEN).item() == pytest.approx((1 + 2 + 3 + 10) / 4)


@pytest.mark.parametrize("mean", Mean)
def test_an_empty_trajectory_is_not_counted(mean: Mean) -> None:
    is_generated = torch.tensor([[True, True], [False, False]])
    terms = torch.tensor([[1.0, 3.0], [7.0, 7.0]])
    assert compute_mean(terms, is_generated, mean=mean).item() == 2.0
    assert compute_mean(terms, torch.zeros_like(is_generated), mean=mean).item() == 0.0


@pytest.mark.parametrize(
    ("ratio", "advantage", "objective"),
    [
        (1.0, 2.0, 2.0),
        (1.27, 1.0, 1.27),  # between 1 + 0.2 and 1 + 0.28: higher than the usual clip, and still free
        (1.5, 1.0, 1.28),  # clipped above
        (1.5, -1.0, -1.5),  # a bad action that became likelier is never clipped
        (0.5, 1.0, 0.5),  # a good action that became rarer is never clipped
        (0.5, -1.0, -0.8),  # clipped below
    ],
)
def test_policy_loss_by_hand(ratio: float, advantage: float, objective: float) -> None:
    loss = compute_policy_loss(
        torch.tensor([[math.log(ratio)]]),
        torch.tensor([[advantage]]),
        is_generated_BT=torch.tensor([[True]]),
    )
    assert loss.item() == pytest.approx(-objective)


def test_a_clipped_token_has_no_gradient() -> None:
    log_ratio = torch.tensor([[0.0, math.log(1.5)]], requires_grad=True)
    compute_policy_loss(log_ratio, torch.ones(1, 2), is_generated_BT=torch.tensor([[True, True]])).backward()
    assert log_ratio.grad is not None
    assert log_ratio.grad.tolist() == [[-0.5, 0.0]]


def test_ratio_is_neutral_where_nothing_was_sampled() -> None:
    # A record without log-probabilities there holds 0, which would be a probability of 1.
    logprobs = torch.full((2, 5), -math.inf)
    logprobs[IS_GENERATED] = -1.0
    log_ratio = compute_log_ratio(logprobs, torch.zeros(2, 5), is_generated_BT=IS_GENERATED)
    assert log_ratio[~IS_GENERATED].tolist() == [0.0] * 6
    assert log_ratio[IS_GENERATED].tolist() == [-1.0] * 4


def test_value_loss_by_hand() -> None:
    values = torch.tensor([[0.0, 1.0, 3.0, 0.0, 2.0], [0.0, 5.0, 0.0, 0.0, 0.0]])
    loss = compute_value_loss(values, torch.ones(2, 5), is_generated_BT=IS_GENERATED)
    assert loss.item() == pytest.approx(0.5 * ((0 + 4 + 1) / 3 + 16) / 2)


def test_rft_loss_by_hand() -> None:
    logprobs = torch.tensor([[-9.0, -1.0, -2.0, -9.0, -3.0], [-9.0, -4.0, -9.0, -9.0, -9.0]])
    assert compute_rft_loss(logprobs, is_generated_BT=IS_GENERATED).item() == pytest.approx(3.0)


def test_logprobs_are_those_of_the_next_token() -> None:
    # After token 0 the model says 1/4 and 3/4, after token 1 twice 1/2; what it says last is unused.
    logits = torch.tensor([[[0.0, math.log(3.0)], [0.0, 0.0], [50.0, 0.0]]])
    found = compute_logprobs(logits, torch.tensor([[0, 1, 0]]))
    assert found[0].tolist() == pytest.approx([0.0, math.log(3 / 4), math.log(1 / 2)])


def test_entropy_by_hand() -> None:
    logits = torch.tensor([[[0.0, 0.0], [0.0, -math.inf], [0.0, 9.0]]])
    assert compute_entropy(logits)[0].tolist() == pytest.approx([0.0, math.log(2), 0.0])


def compute_all_losses(logits: Tensor, ids: Tensor, *, is_generated: Tensor) -> Tensor:
    logprobs = compute_logprobs(logits, ids)
    log_ratio = compute_log_ratio(logprobs, torch.full(ids.shape, -1.0), is_generated_BT=is_generated)
    advantages = torch.arange(float(ids.numel())).reshape(ids.shape) - 4
    policy = compute_policy_loss(log_ratio, advantages, is_generated_BT=is_generated)
    return policy + compute_rft_loss(logprobs, is_generated_BT=is_generated)


@pytest.mark.parametrize("place", [0, 3])
def test_flipping_a_prompt_or_tool_token_changes_no_gradient(place: int) -> None:
    torch.manual_seed(0)
    logits = torch.randn(2, 5, 7, requires_grad=True)
    ids = torch.randint(7, (2, 5))
    flipped = ids.clone()
    flipped[:, place] = (ids[:, place] + 1) % 7
    is_generated = torch.tensor([[False, True, True, False, True]] * 2)
    losses = [compute_all_losses(logits, tokens, is_generated=is_generated) for tokens in (ids, flipped)]
    gradients = [torch.autograd.grad(loss, logits)[0] for loss in losses]
    assert losses[0].item() == losses[1].item()
    assert torch.equal(*gradients)
    # The prediction of token t stands at t - 1: those of the tool token and past the end get nothing.
    assert not gradients[0][:, 2].any()
    assert not gradients[0][:, 4].any()
    assert gradients[0][:, 3].any()

"""The losses of the four stages, as the paper writes them.

Axes: B trajectories, T tokens, K the vocabulary. Only generated tokens count, in values and in gradients.
"""

from enum import StrEnum

import torch
from torch import Tensor


class Mean(StrEnum):
    """Over what a loss is averaged."""

    TRAJECTORY = "trajectory"
    """Each trajectory's tokens, and then the trajectories: long episodes weigh no more than short ones."""
    TOKEN = "token"
    """All tokens at once: every token weighs the same."""


def compute_mean(terms_BT: Tensor, is_generated_BT: Tensor, *, mean: Mean = Mean.TRAJECTORY) -> Tensor:
    """The mean of the generated tokens' terms; 0 when there is none.

    A trajectory without a generated token is not counted.
    """
    kept_BT = torch.where(is_generated_BT, terms_BT, 0.0)
    if mean is Mean.TOKEN:
        return kept_BT.sum() / is_generated_BT.sum().clamp(min=1)
    lengths_B = is_generated_BT.sum(dim=1)
    means_B = kept_BT.sum(dim=1) / lengths_B.clamp(min=1)
    return means_B.sum() / (lengths_B > 0).sum().clamp(min=1)


def compute_log_ratio(logprobs_BT: Tensor, old_logprobs_BT: Tensor, *, is_generated_BT: Tensor) -> Tensor:
    """The log of rho = pi(a_t) / pi_old(a_t); 0, a ratio of 1, for tokens that nobody sampled."""
    return torch.where(is_generated_BT, logprobs_BT - old_logprobs_BT, 0.0)


def compute_policy_loss(
    log_ratio_BT: Tensor,
    advantages_BT: Tensor,
    *,
    is_generated_BT: Tensor,
    eps_lower: float = 0.2,
    eps_higher: float = 0.28,
    mean: Mean = Mean.TRAJECTORY,
) -> Tensor:
    """PPO's clipped objective, negated: -mean min(rho A, clip(rho, 1 - eps_lower, 1 + eps_higher) A)."""
    ratio_BT = log_ratio_BT.exp()
    clipped_BT = ratio_BT.clamp(1.0 - eps_lower, 1.0 + eps_higher)
    objective_BT = torch.minimum(ratio_BT * advantages_BT, clipped_BT * advantages_BT)
    return -compute_mean(objective_BT, is_generated_BT, mean=mean)


def compute_value_loss(
    values_BT: Tensor, targets_BT: Tensor, *, is_generated_BT: Tensor, mean: Mean = Mean.TRAJECTORY
) -> Tensor:
    """Half the mean of (V - V_target)^2."""
    return 0.5 * compute_mean((values_BT - targets_BT).square(), is_generated_BT, mean=mean)


def compute_rft_loss(logprobs_BT: Tensor, *, is_generated_BT: Tensor, mean: Mean = Mean.TRAJECTORY) -> Tensor:
    """The negative log-likelihood of what was generated: rejection fine-tuning, and imitation."""
    return -compute_mean(logprobs_BT, is_generated_BT, mean=mean)


def compute_logprobs(logits_BTK: Tensor, ids_BT: Tensor) -> Tensor:
    """Each token's log-probability (B, T) given those before it; 0 for the first, which nothing predicts.

    `logits_BTK` holds at t the prediction of token t + 1, as a causal model gives it.
    """
    predicted_BTK = logits_BTK[:, :-1].float().log_softmax(dim=-1)
    chosen_BT = predicted_BTK.gather(2, ids_BT[:, 1:, None]).squeeze(2)
    return torch.nn.functional.pad(chosen_BT, (1, 0))


def compute_entropy(logits_BTK: Tensor) -> Tensor:
    """Entropy in nats of the distribution that each token is drawn from, (B, T); 0 for the first."""
    logprobs_BTK = logits_BTK[:, :-1].float().log_softmax(dim=-1)
    terms_BTK = torch.special.entr(logprobs_BTK.exp())
    return torch.nn.functional.pad(terms_BTK.sum(dim=-1), (1, 0))

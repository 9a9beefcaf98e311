"""What tells a healthy training run from one that is about to collapse.

Names are verl's where it has one, so that curves can be laid side by side. All figures are over generated
tokens; NaN where there is none.
"""

import math

import torch
from torch import Tensor

PROBABILITY_FLOOR = 1e-6
"""Below it, rounding between sampling and training moves a ratio far: the paper's cause of collapse."""

LOG_RATIO_LIMIT = 20.0
"""Log-ratios are cut here before they are exponentiated, as verl does."""

IS_THRESHOLD = 2.0
"""Where importance weights are truncated."""


def compute_explained_variance(values_BT: Tensor, returns_BT: Tensor, *, is_generated_BT: Tensor) -> float:
    """1 - Var(return - V) / Var(return): 1 is perfect, 0 no better than their mean, NaN for equal returns."""
    returns = returns_BT[is_generated_BT].double()
    errors = returns - values_BT[is_generated_BT].double()
    spread = returns.var(correction=0).item() if returns.numel() else 0.0
    return 1.0 - errors.var(correction=0).item() / spread if spread > 0 else math.nan


def measure_values(values_BT: Tensor, returns_BT: Tensor, *, is_generated_BT: Tensor) -> dict[str, float]:
    """What the critic says, what it should have said, and how much of that it explains."""
    explained = compute_explained_variance(values_BT, returns_BT, is_generated_BT=is_generated_BT)
    return {
        "critic/vf_explained_var": explained,
        "critic/values/mean": _mean(values_BT[is_generated_BT].double()),
        "critic/returns/mean": _mean(returns_BT[is_generated_BT].double()),
    }


def measure_policy(
    log_ratio_BT: Tensor,
    advantages_BT: Tensor,
    *,
    is_generated_BT: Tensor,
    eps_lower: float = 0.2,
    eps_higher: float = 0.28,
) -> dict[str, float]:
    """How far an update has moved: clip share, KL, and the extremes of the ratio.

    A token counts as clipped where the clip is what the loss sees: the ratio is out of bounds on the side
    that its advantage pushes to.
    """
    log_ratio = log_ratio_BT[is_generated_BT].double()
    advantages = advantages_BT[is_generated_BT]
    ratio = log_ratio.exp()
    too_high = (ratio > 1.0 + eps_higher) & (advantages > 0)
    too_low = (ratio < 1.0 - eps_lower) & (advantages < 0)
    return {
        "actor/pg_clipfrac": _mean((too_high | too_low).double()),
        "actor/ppo_kl": _mean(-log_ratio),
        "actor/ratio_min": ratio.min().item() if ratio.numel() else math.nan,
        "actor/ratio_max": ratio.max().item() if ratio.numel() else math.nan,
    }


def measure_mismatch(
    logprobs_BT: Tensor, rollout_logprobs_BT: Tensor, *, is_generated_BT: Tensor
) -> dict[str, float]:
    """How far the training's probabilities are from those that the tokens were sampled with.

    With shared weights only rounding remains; anything larger is a fault, of a mask or of a position.
    """
    logprobs = logprobs_BT[is_generated_BT].double()
    rollout = rollout_logprobs_BT[is_generated_BT].double()
    log_ratio = logprobs - rollout
    ratio = log_ratio.clamp(-LOG_RATIO_LIMIT, LOG_RATIO_LIMIT).exp()
    weights = ratio.clamp(max=IS_THRESHOLD)
    differences = (logprobs.exp() - rollout.exp()).abs()
    diverged_BT = (rollout_logprobs_BT - logprobs_BT).double()
    return {
        "rollout_corr/kl": _mean(-log_ratio),
        "rollout_corr/k3_kl": _mean(ratio - 1.0 - log_ratio),
        "rollout_corr/ppl_ratio": _mean(_mean_rows(diverged_BT, is_generated_BT).exp()),
        "rollout_corr/chi2_token": _mean(ratio.square()) - 1.0,
        "rollout_corr/rollout_is_mean": _mean(weights),
        "rollout_corr/rollout_is_max": weights.max().item() if weights.numel() else math.nan,
        "rollout_corr/rollout_is_eff_sample_size": 1.0 / _mean((weights / weights.mean()).square()),
        "training/rollout_probs_diff_mean": _mean(differences),
        "training/rollout_probs_diff_max": differences.max().item() if differences.numel() else math.nan,
    }


def measure_floor(
    logprobs_BT: Tensor,
    rollout_logprobs_BT: Tensor,
    *,
    is_generated_BT: Tensor,
    floor: float = PROBABILITY_FLOOR,
) -> dict[str, float]:
    """The tokens that were sampled with a probability below `floor`: how many, and what their ratios do."""
    rollout = rollout_logprobs_BT[is_generated_BT].double()
    log_ratio = logprobs_BT[is_generated_BT].double() - rollout
    is_rare = rollout < math.log(floor)
    rare = log_ratio[is_rare]
    return {
        "floor/share": _mean(is_rare.double()),
        "floor/log_ratio_abs_mean": _mean(rare.abs()),
        "floor/ratio_max": rare.max().exp().item() if rare.numel() else math.nan,
    }


def measure_episodes(rewards_BT: Tensor, is_generated_BT: Tensor, *, is_cut_B: Tensor) -> dict[str, float]:
    """Mean reward and response length, and the share of episodes cut by their length (`is_cut_B`)."""
    lengths_B = is_generated_BT.sum(dim=1).double()
    return {
        "critic/rewards/mean": _mean(rewards_BT.sum(dim=1).double()),
        "response_length/mean": _mean(lengths_B),
        "response_length/clip_ratio": _mean(is_cut_B.double()),
    }


def _mean(values: Tensor) -> float:
    return values.mean().item() if values.numel() else math.nan


def _mean_rows(terms_BT: Tensor, is_generated_BT: Tensor) -> Tensor:
    """Each trajectory's mean over its generated tokens, for those that have one."""
    lengths_B = is_generated_BT.sum(dim=1)
    sums_B = torch.where(is_generated_BT, terms_BT, 0.0).sum(dim=1)
    return sums_B[lengths_B > 0] / lengths_B[lengths_B > 0]

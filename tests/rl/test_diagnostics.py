"""Each figure by hand, and none of them fails where there is nothing to measure."""

import math

import pytest
import torch
from torch import Tensor

from cuda_agent.rl.diagnostics import (
    compute_explained_variance,
    measure_episodes,
    measure_floor,
    measure_mismatch,
    measure_policy,
)

IS_GENERATED = torch.tensor([[False, True, True]])


def measure_row(values: list[float], returns: list[float]) -> float:
    mask = torch.tensor([[True] * len(values)])
    return compute_explained_variance(torch.tensor([values]), torch.tensor([returns]), is_generated_BT=mask)


def test_explained_variance_by_hand() -> None:
    assert measure_row([1.0, 3.0], [1.0, 3.0]) == 1.0
    assert measure_row([5.0, 5.0], [1.0, 3.0]) == 0.0
    assert measure_row([3.0, 1.0], [1.0, 3.0]) == -3.0
    assert math.isnan(measure_row([1.0, 2.0], [3.0, 3.0]))


def test_explained_variance_sees_generated_tokens_only() -> None:
    found = compute_explained_variance(
        torch.tensor([[77.0, 1.0, 3.0]]), torch.tensor([[0.0, 1.0, 3.0]]), is_generated_BT=IS_GENERATED
    )
    assert found == 1.0


def take_logs(probabilities: list[float]) -> Tensor:
    return torch.tensor([probabilities], dtype=torch.float64).log()


def test_clip_share_counts_what_the_loss_clips() -> None:
    # Ratio and advantage: clipped above, free above (it got worse), clipped below, free within.
    log_ratio = take_logs([1.5, 1.5, 0.5, 1.25])
    advantages = torch.tensor([[1.0, -1.0, -1.0, 1.0]])
    found = measure_policy(log_ratio, advantages, is_generated_BT=torch.ones(1, 4, dtype=torch.bool))
    assert found["actor/pg_clipfrac"] == 0.5
    assert found["actor/ratio_min"] == pytest.approx(0.5)
    assert found["actor/ratio_max"] == pytest.approx(1.5)
    assert found["actor/ppo_kl"] == pytest.approx(-math.log(1.5 * 1.5 * 0.5 * 1.25) / 4)


def test_mismatch_by_hand() -> None:
    # Sampled with 1/2 and 1/4, trained with 1/4 and 3/4: ratios 1/2 and 3, of which 3 is truncated to 2.
    found = measure_mismatch(
        take_logs([1.0, 0.25, 0.75]), take_logs([0.1, 0.5, 0.25]), is_generated_BT=IS_GENERATED
    )
    log_ratio = math.log(0.5) + math.log(3)
    assert found["rollout_corr/kl"] == pytest.approx(-log_ratio / 2)
    assert found["rollout_corr/k3_kl"] == pytest.approx((0.5 + 3 - 2 - log_ratio) / 2)
    assert found["rollout_corr/ppl_ratio"] == pytest.approx(math.exp(-log_ratio / 2))
    assert found["rollout_corr/chi2_token"] == pytest.approx((0.25 + 9) / 2 - 1)
    assert found["rollout_corr/rollout_is_mean"] == pytest.approx(1.25)
    assert found["rollout_corr/rollout_is_max"] == pytest.approx(2.0)
    assert found["rollout_corr/rollout_is_eff_sample_size"] == pytest.approx(1.25**2 / ((0.25 + 4) / 2))
    assert found["training/rollout_probs_diff_mean"] == pytest.approx((0.25 + 0.5) / 2)
    assert found["training/rollout_probs_diff_max"] == pytest.approx(0.5)


def test_shared_weights_leave_no_mismatch() -> None:
    logprobs = take_logs([0.3, 0.5, 1e-9])
    found = measure_mismatch(logprobs, logprobs, is_generated_BT=IS_GENERATED)
    zero = ("rollout_corr/kl", "rollout_corr/k3_kl", "training/rollout_probs_diff_max")
    assert [found[name] for name in zero] == [0.0] * 3
    assert found["rollout_corr/rollout_is_eff_sample_size"] == 1.0


def test_floor_tells_of_the_rare_tokens_alone() -> None:
    found = measure_floor(
        take_logs([0.1, 4e-9, 0.9]), take_logs([0.1, 1e-9, 0.1]), is_generated_BT=IS_GENERATED
    )
    assert found["floor/share"] == 0.5
    assert found["floor/log_ratio_abs_mean"] == pytest.approx(math.log(4))
    assert found["floor/ratio_max"] == pytest.approx(4.0)


def test_episodes_by_hand() -> None:
    is_generated = torch.tensor([[False, True, True], [False, True, False]])
    rewards = torch.tensor([[0.0, 0.0, 3.0], [0.0, -1.0, 0.0]])
    found = measure_episodes(rewards, is_generated, is_cut_B=torch.tensor([True, False]))
    assert found == {
        "critic/rewards/mean": 1.0,
        "response_length/mean": 1.5,
        "response_length/clip_ratio": 0.5,
    }


def test_nothing_generated_is_nan_and_no_error() -> None:
    none = torch.zeros(1, 3, dtype=torch.bool)
    zeros = torch.zeros(1, 3)
    assert math.isnan(compute_explained_variance(zeros, zeros, is_generated_BT=none))
    for found in (
        measure_policy(zeros, zeros, is_generated_BT=none),
        measure_mismatch(zeros, zeros, is_generated_BT=none),
        measure_floor(zeros, zeros, is_generated_BT=none),
    ):
        assert all(map(math.isnan, found.values()))

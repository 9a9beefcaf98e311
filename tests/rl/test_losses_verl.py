"""verl's losses, with the settings that we give it, are ours on the same trajectories."""

import pytest
import torch
from torch import Tensor

from cuda_agent.rl.losses import compute_policy_loss, compute_value_loss
from cuda_agent.rl.verl_adapter.overrides import OUT_OF_REACH

pytestmark = pytest.mark.verl
MODE = "seq-mean-token-mean"


def draw(seed: int) -> tuple[Tensor, Tensor, Tensor]:
    """Log-ratios that leave the clip on both sides, advantages, and which tokens were generated."""
    generator = torch.Generator().manual_seed(seed)
    is_generated_BT = torch.rand(16, 60, generator=generator) < 0.4
    is_generated_BT[:, 0] = True
    log_ratio_BT = torch.where(is_generated_BT, 0.5 * torch.randn(16, 60, generator=generator), 0.0)
    return log_ratio_BT, torch.randn(16, 60, generator=generator), is_generated_BT


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_policy_loss_agrees(seed: int) -> None:
    from verl.trainer.ppo.core_algos import get_policy_loss_fn
    from verl.workers.config import FSDPActorConfig

    log_ratio_BT, advantages_BT, is_generated_BT = draw(seed)
    config = FSDPActorConfig(
        strategy="fsdp2",
        rollout_n=1,
        ppo_micro_batch_size_per_gpu=1,
        clip_ratio=0.2,
        clip_ratio_low=0.2,
        clip_ratio_high=0.28,
        clip_ratio_c=OUT_OF_REACH,
    )
    old_BT = torch.full_like(log_ratio_BT, -1.0)
    theirs, _ = get_policy_loss_fn("vanilla")(
        old_log_prob=old_BT,
        log_prob=old_BT + log_ratio_BT,
        advantages=advantages_BT,
        response_mask=is_generated_BT.float(),
        loss_agg_mode=MODE,
        config=config,
    )
    ours = compute_policy_loss(log_ratio_BT, advantages_BT, is_generated_BT=is_generated_BT)
    assert theirs.item() == pytest.approx(ours.item(), abs=1e-5)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_value_loss_agrees(seed: int) -> None:
    from verl.trainer.ppo.core_algos import compute_value_loss as compute_theirs

    values_BT, targets_BT, is_generated_BT = draw(seed)
    theirs, clipped = compute_theirs(
        vpreds=values_BT,
        values=torch.zeros_like(values_BT),
        returns=targets_BT,
        response_mask=is_generated_BT.float(),
        cliprange_value=OUT_OF_REACH,
        loss_agg_mode=MODE,
    )
    assert clipped.item() == 0.0
    ours = compute_value_loss(values_BT, targets_BT, is_generated_BT=is_generated_BT)
    assert theirs.item() == pytest.approx(ours.item(), abs=1e-5)

"""verl's masked GAE is ours: no estimator of our own need be registered."""

import pytest
import torch

from cuda_agent.rl.gae import compute_gae, normalise_advantages

pytestmark = pytest.mark.verl


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_advantages_and_targets_agree(seed: int) -> None:
    from verl.trainer.ppo.core_algos import compute_gae_advantage_return

    generator = torch.Generator().manual_seed(seed)
    is_generated_BT = torch.rand(16, 60, generator=generator) < 0.4
    is_generated_BT[:, 0] = True
    values_BT = torch.randn(16, 60, generator=generator)
    rewards_BT = torch.zeros(16, 60)
    for row in range(16):
        rewards_BT[row, is_generated_BT[row].nonzero()[-1]] = float(row % 4)
    advantages_BT, targets_BT = compute_gae(rewards_BT, values_BT, is_generated_BT=is_generated_BT)
    theirs_BT, returns_BT = compute_gae_advantage_return(
        rewards_BT, values_BT, is_generated_BT.float(), gamma=1.0, lam=0.95
    )
    # verl normalises within, by the deviation of a sample and not of the whole.
    count = int(is_generated_BT.sum())
    ours_BT = normalise_advantages(advantages_BT, is_generated_BT) * ((count - 1) / count) ** 0.5
    torch.testing.assert_close(theirs_BT[is_generated_BT], ours_BT[is_generated_BT], atol=1e-5, rtol=0)
    torch.testing.assert_close(returns_BT[is_generated_BT], targets_BT[is_generated_BT], atol=1e-5, rtol=0)

"""However a batch is cut up, the parts' losses are the local trainer's loss of the whole."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from cuda_agent.rl.batch import TokenSequence, build_batch
from cuda_agent.rl.gae import compute_gae
from cuda_agent.rl.losses import compute_rft_loss, compute_value_loss
from cuda_agent.rl.verl_adapter.losses import RftLoss, ValueLoss, compute_share
from cuda_agent.rl.verl_adapter.value import build_rewards
from tests.rl.verl_adapter.training import make_sequences

SEQUENCES = make_sequences(8, vocabulary=200)
OUTPUTS_BT = torch.randn(8, 40, generator=torch.Generator().manual_seed(5))
"""What a network says after each token, padding included."""
PARTS = [[0, 1, 2], [3], [4, 5, 6, 7]]
"""Micro-batches; on two processes the first two are one's, and the last the other's."""


def nest(rows: list[Tensor]) -> Tensor:
    return torch.nested.as_nested_tensor(rows, layout=torch.jagged)


def compute_in_parts(loss: Callable[..., tuple[Tensor, Any]], name: str, *, processes: int) -> float:
    """As verl adds up: the sum over parts, and the mean over processes."""
    total = 0.0
    for part in PARTS:
        chosen = [SEQUENCES[row] for row in part]
        outputs = [OUTPUTS_BT[row, : len(SEQUENCES[row].ids)] for row in part]
        data = {
            "loss_mask": nest([torch.tensor(sequence.is_generated).long() for sequence in chosen]),
            "rewards": nest([build_rewards(sequence) for sequence in chosen]),
            "dp_size": processes,
        }
        total += loss(model_output={name: nest(outputs)}, data=data, dp_group=None)[0].item()
    return total / processes


def shift() -> Tensor:
    length = max(len(sequence.ids) for sequence in SEQUENCES)
    return torch.nn.functional.pad(OUTPUTS_BT[:, : length - 1], (1, 0))


@pytest.mark.parametrize("processes", [1, 2])
def test_rft_loss(processes: int) -> None:
    whole = compute_rft_loss(shift(), is_generated_BT=build_batch(SEQUENCES).is_generated_BT).item()
    assert compute_in_parts(RftLoss(batch=8), "log_probs", processes=processes) == pytest.approx(
        whole, abs=1e-6
    )


@pytest.mark.parametrize("processes", [1, 2])
def test_value_loss(processes: int) -> None:
    batch = build_batch(SEQUENCES)
    generated_BT = batch.is_generated_BT
    _, targets_BT = compute_gae(
        batch.rewards_BT, shift(), is_generated_BT=generated_BT, gamma=0.9, gae_lambda=0.8
    )
    whole = compute_value_loss(shift(), targets_BT, is_generated_BT=generated_BT).item()
    loss = ValueLoss(batch=8, gamma=0.9, gae_lambda=0.8)
    assert compute_in_parts(loss, "values", processes=processes) == pytest.approx(whole, abs=1e-6)


def test_targets_carry_no_gradient() -> None:
    outputs = OUTPUTS_BT[0, : len(SEQUENCES[0].ids)].clone().requires_grad_()
    mask = torch.tensor(SEQUENCES[0].is_generated)
    data = {"loss_mask": nest([mask.long()]), "rewards": nest([build_rewards(SEQUENCES[0])]), "dp_size": 1}
    loss, _ = ValueLoss(batch=1, gamma=1.0, gae_lambda=1.0)(
        {"values": torch.nested.nested_tensor_from_jagged(outputs, torch.tensor([0, len(outputs)]))}, data
    )
    loss.backward()
    assert outputs.grad is not None
    # With lambda 1 each target is the reward, so the gradient of token t's value is V - R over their number.
    values = outputs.detach()[:-1][mask[1:]]
    expected = (values - SEQUENCES[0].reward) / mask.sum()
    torch.testing.assert_close(outputs.grad[:-1][mask[1:]], expected)


def test_a_share_counts_trajectories_with_something_to_learn() -> None:
    empty = TokenSequence((1, 2), (False, False), (0.0, 0.0), 1.0)
    assert compute_share(build_batch([*SEQUENCES[:3], empty]).is_generated_BT, batch=12) == 0.25

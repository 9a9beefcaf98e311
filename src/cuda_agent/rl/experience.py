"""What PPO learns from: a batch, and what both networks made of it before the update."""

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor
from transformers import PreTrainedModel

from cuda_agent.rl.batch import Batch
from cuda_agent.rl.config import PpoConfig, StageConfig
from cuda_agent.rl.gae import compute_gae, normalise_advantages
from cuda_agent.rl.policy import TokenScores, compute_values, score_tokens


@dataclass(frozen=True)
class Experience:
    """A batch, and what was thought of it before the update; all tensors (B, T)."""

    batch: Batch
    """The tokens and rewards."""
    old_logprobs_BT: Tensor
    """log pi_old(a_t), by training's own pass over the tokens."""
    entropy_BT: Tensor
    """Entropy of pi_old, in nats."""
    values_BT: Tensor
    """V(s_t) before the update."""
    advantages_BT: Tensor
    """A_t; 0 where nothing was generated."""
    targets_BT: Tensor
    """V_target = V + A, before advantages are normalised."""

    def take(self, rows: Tensor | slice) -> "Experience":
        """Some of the trajectories, without the padding that only others need."""
        batch = self.batch.take(rows)
        length = batch.ids_BT.shape[1]
        tensors = [tensor[rows, :length] for name, tensor in vars(self).items() if name != "batch"]
        return Experience(batch, *tensors)

    def split(self, size: int) -> Iterator["Experience"]:
        """All trajectories in order, `size` at a time."""
        for start in range(0, len(self.values_BT), size):
            yield self.take(slice(start, start + size))


def build_experience(
    actor: PreTrainedModel, critic: PreTrainedModel, *, batch: Batch, config: PpoConfig
) -> Experience:
    """Score a batch with both networks as they are, and estimate its advantages."""
    scores = score_all_tokens(actor, batch, config=config)
    values_BT = compute_all_values(critic, batch, config=config)
    advantages_BT, targets_BT = compute_gae(
        batch.rewards_BT,
        values_BT,
        is_generated_BT=batch.is_generated_BT,
        gamma=config.gae.gamma,
        gae_lambda=config.gae.gae_lambda,
    )
    if config.normalise:
        advantages_BT = normalise_advantages(advantages_BT, batch.is_generated_BT)
    return Experience(batch, scores.logprobs_BT, scores.entropy_BT, values_BT, advantages_BT, targets_BT)


@torch.no_grad()
def score_all_tokens(actor: PreTrainedModel, batch: Batch, *, config: StageConfig) -> TokenScores:
    """`score_tokens` for a batch of any size, without gradients."""
    logprobs_BT, entropy_BT = (torch.zeros_like(batch.rewards_BT) for _ in range(2))
    for rows, part in batch.split(config.micro_batch):
        scores = score_tokens(actor, part, precision=config.precision)
        length = part.ids_BT.shape[1]
        logprobs_BT[rows, :length] = scores.logprobs_BT
        entropy_BT[rows, :length] = scores.entropy_BT
    return TokenScores(logprobs_BT, entropy_BT)


@torch.no_grad()
def compute_all_values(critic: PreTrainedModel, batch: Batch, *, config: StageConfig) -> Tensor:
    """`compute_values` for a batch of any size, without gradients."""
    values_BT = torch.zeros_like(batch.rewards_BT)
    for rows, part in batch.split(config.micro_batch):
        values_BT[rows, : part.ids_BT.shape[1]] = compute_values(critic, part, precision=config.precision)
    return values_BT

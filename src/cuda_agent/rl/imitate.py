"""Imitation: the likelihood of what an expert wrote. It stands in for a base model's pretraining.

Rejection fine-tuning learns by the same step, from the policy's own best episodes.
"""

from collections.abc import Iterator, Sequence

from torch import Tensor

from cuda_agent.errors import UserError
from cuda_agent.rl.batch import Batch, TokenSequence, build_batch
from cuda_agent.rl.config import ImitateConfig, RftConfig
from cuda_agent.rl.learner import Learner, compute_weight
from cuda_agent.rl.losses import compute_rft_loss
from cuda_agent.rl.order import choose_rows
from cuda_agent.rl.policy import Policy, choose_device, score_tokens
from cuda_agent.rl.training import Step, SupervisedStage


class Imitation(SupervisedStage):
    """Makes an actor likelier to write what it is shown."""

    def __init__(
        self, config: ImitateConfig | RftConfig, policy: Policy, *, sequences: Sequence[TokenSequence]
    ) -> None:
        """`sequences` are the episodes to learn from.

        Raises:
            UserError: none of them has a generated token.
        """
        super().__init__(config, {"actor": Learner(policy.model, config.actor)}, policy=policy)
        self._sequences = [sequence for sequence in sequences if any(sequence.is_generated)]
        self._device = choose_device(config.device)
        if not self._sequences:
            raise UserError("no episode has a generated token, so there is nothing to learn from")

    def take_step(self, step: int) -> Step:
        """-mean log pi(a_t), over the generated tokens of one step's episodes."""
        config = self.config
        rows = choose_rows(len(self._sequences), config.batch, step=step, seed=config.seed)
        batch = build_batch([self._sequences[row] for row in rows]).to(self._device)
        learnt = self.learners["actor"].learn(self._compute_losses(batch), step=step)
        tokens = {"train/tokens": float(batch.is_generated_BT.sum())}
        return Step({f"train/{name}": value for name, value in learnt.items()} | tokens)

    def _compute_losses(self, batch: Batch) -> Iterator[Tensor]:
        config, model = self.config, self.learners["actor"].model
        for _, part in batch.split(config.micro_batch):
            weight = compute_weight(part.is_generated_BT, batch.is_generated_BT, mean=config.mean)
            logprobs_BT = score_tokens(model, part, precision=config.precision).logprobs_BT
            loss = compute_rft_loss(logprobs_BT, is_generated_BT=part.is_generated_BT, mean=config.mean)
            yield weight * loss

"""Value pretraining: the critic learns what the policy's episodes are worth, before it has to judge them.

Without it the paper's explained variance begins at -8 and episodes grow until their length cuts them.
"""

import logging
from collections import Counter
from collections.abc import Iterator, Sequence

from torch import Tensor
from transformers import PreTrainedModel

from cuda_agent.agent.trajectory import Trajectory
from cuda_agent.errors import UserError
from cuda_agent.rl.batch import Batch, TokenSequence, build_batch, build_sequence
from cuda_agent.rl.config import ValueConfig
from cuda_agent.rl.diagnostics import measure_values
from cuda_agent.rl.experience import compute_all_values
from cuda_agent.rl.gae import compute_gae
from cuda_agent.rl.learner import Learner, compute_weight
from cuda_agent.rl.losses import compute_value_loss
from cuda_agent.rl.order import choose_rows
from cuda_agent.rl.policy import choose_device, compute_values
from cuda_agent.rl.rollout import find_fault
from cuda_agent.rl.training import Step, SupervisedStage

_logger = logging.getLogger(__name__)


def build_value_sequences(trajectories: Sequence[Trajectory]) -> list[TokenSequence]:
    """What a critic learns from: episodes, good and bad, whose reward says something of the policy.

    How many are left out, since the machine or their task was at fault, is told.

    Raises:
        UserError: none is left, or one is no sequence of tokens.
    """
    faults = [find_fault(trajectory) for trajectory in trajectories]
    counts = Counter(fault.value for fault in faults if fault)
    if counts:
        said = ", ".join(f"{count} {fault}" for fault, count in counts.items())
        told = "%d of %d episodes say nothing of the policy and are left out: %s"
        _logger.warning(told, counts.total(), len(faults), said)
    kept = [trajectory for trajectory, fault in zip(trajectories, faults, strict=True) if fault is None]
    if not kept:
        raise UserError("the machine or the task was at fault in every episode: sample other ones")
    return list(map(build_sequence, kept))


class ValuePretraining(SupervisedStage):
    """Moves V towards V + A, where A is estimated with V as it is now."""

    def __init__(
        self, config: ValueConfig, critic: PreTrainedModel, *, sequences: Sequence[TokenSequence]
    ) -> None:
        """`sequences` are episodes of the policy, good and bad ones: a critic must know both.

        Raises:
            UserError: none of them has a generated token.
        """
        super().__init__(config, {"critic": Learner(critic, config.critic)}, policy=None)
        self._gae = config.gae
        self._device = choose_device(config.device)
        self._sequences = [sequence for sequence in sequences if any(sequence.is_generated)]
        if not self._sequences:
            raise UserError("no episode has a generated token, so there is nothing to value")

    def take_step(self, step: int) -> Step:
        """1/2 mean (V(s_t) - V_target)^2, with targets recomputed from the current V."""
        config, critic = self.config, self.learners["critic"]
        rows = choose_rows(len(self._sequences), config.batch, step=step, seed=config.seed)
        batch = build_batch([self._sequences[row] for row in rows]).to(self._device)
        values_BT = compute_all_values(critic.model, batch, config=config)
        _, targets_BT = compute_gae(
            batch.rewards_BT,
            values_BT,
            is_generated_BT=batch.is_generated_BT,
            gamma=self._gae.gamma,
            gae_lambda=self._gae.gae_lambda,
        )
        learnt = critic.learn(self._compute_losses(batch, targets_BT), step=step)
        return Step(
            {
                "critic/vf_loss": learnt["loss"],
                "critic/grad_norm": learnt["grad_norm"],
                "critic/lr": learnt["lr"],
                **measure_values(values_BT, targets_BT, is_generated_BT=batch.is_generated_BT),
            }
        )

    def _compute_losses(self, batch: Batch, targets_BT: Tensor) -> Iterator[Tensor]:
        config, model = self.config, self.learners["critic"].model
        for rows, part in batch.split(config.micro_batch):
            weight = compute_weight(part.is_generated_BT, batch.is_generated_BT, mean=config.mean)
            loss = compute_value_loss(
                compute_values(model, part, precision=config.precision),
                targets_BT[rows, : part.ids_BT.shape[1]],
                is_generated_BT=part.is_generated_BT,
                mean=config.mean,
            )
            yield weight * loss

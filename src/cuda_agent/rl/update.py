"""One step of PPO over a batch, the same for single answers and for whole episodes."""

from collections import defaultdict
from collections.abc import Iterator

from torch import Tensor

from cuda_agent.rl.batch import Batch
from cuda_agent.rl.config import PpoConfig
from cuda_agent.rl.diagnostics import (
    measure_floor,
    measure_mismatch,
    measure_policy,
    measure_values,
)
from cuda_agent.rl.experience import Experience, build_experience, score_all_tokens
from cuda_agent.rl.learner import Learner, compute_weight
from cuda_agent.rl.losses import (
    compute_log_ratio,
    compute_mean,
    compute_policy_loss,
    compute_value_loss,
)
from cuda_agent.rl.order import derive_seed, shuffle_rows
from cuda_agent.rl.policy import compute_values, score_tokens


def update(
    actor: Learner, critic: Learner, *, batch: Batch, config: PpoConfig, step: int
) -> dict[str, float]:
    """Improve both networks by one batch of trajectories; figures by verl's names.

    Advantages and targets are those of the networks before the step, through all epochs and minibatches.
    """
    experience = build_experience(actor.model, critic.model, batch=batch, config=config)
    figures: dict[str, list[float]] = defaultdict(list)
    for epoch in range(config.epochs):
        seed = derive_seed("minibatches", config.seed, step, epoch)
        rows = shuffle_rows(len(batch.ids_BT), seed=seed)
        for some in rows.tensor_split(min(config.minibatches, len(rows))):
            part = experience.take(some)
            learnt = actor.learn(_compute_policy_losses(actor, part, config=config), step=step)
            valued = critic.learn(_compute_value_losses(critic, part, config=config), step=step)
            for name, value in _name(learnt, valued).items():
                figures[name].append(value)
    means = {name: sum(values) / len(values) for name, values in figures.items()}
    return means | _measure(actor, experience, config=config)


def _compute_policy_losses(actor: Learner, whole: Experience, *, config: PpoConfig) -> Iterator[Tensor]:
    for part in whole.split(config.micro_batch):
        is_generated_BT = part.batch.is_generated_BT
        weight = compute_weight(is_generated_BT, whole.batch.is_generated_BT, mean=config.mean)
        logprobs_BT = score_tokens(actor.model, part.batch, precision=config.precision).logprobs_BT
        loss = compute_policy_loss(
            compute_log_ratio(logprobs_BT, part.old_logprobs_BT, is_generated_BT=is_generated_BT),
            part.advantages_BT,
            is_generated_BT=is_generated_BT,
            eps_lower=config.eps_lower,
            eps_higher=config.eps_higher,
            mean=config.mean,
        )
        yield weight * loss


def _compute_value_losses(critic: Learner, whole: Experience, *, config: PpoConfig) -> Iterator[Tensor]:
    for part in whole.split(config.micro_batch):
        is_generated_BT = part.batch.is_generated_BT
        weight = compute_weight(is_generated_BT, whole.batch.is_generated_BT, mean=config.mean)
        loss = compute_value_loss(
            compute_values(critic.model, part.batch, precision=config.precision),
            part.targets_BT,
            is_generated_BT=is_generated_BT,
            mean=config.mean,
        )
        yield weight * loss


def _name(actor: dict[str, float], critic: dict[str, float]) -> dict[str, float]:
    return {
        "actor/pg_loss": actor["loss"],
        "actor/grad_norm": actor["grad_norm"],
        "actor/lr": actor["lr"],
        "critic/vf_loss": critic["loss"],
        "critic/grad_norm": critic["grad_norm"],
        "critic/lr": critic["lr"],
    }


def _measure(actor: Learner, experience: Experience, *, config: PpoConfig) -> dict[str, float]:
    """What the whole step did, from one more pass after it."""
    batch, is_generated_BT = experience.batch, experience.batch.is_generated_BT
    logprobs_BT = score_all_tokens(actor.model, batch, config=config).logprobs_BT
    log_ratio_BT = compute_log_ratio(logprobs_BT, experience.old_logprobs_BT, is_generated_BT=is_generated_BT)
    rollout = batch.rollout_logprobs_BT
    advantages = experience.advantages_BT[is_generated_BT]
    return {
        **measure_policy(
            log_ratio_BT,
            experience.advantages_BT,
            is_generated_BT=is_generated_BT,
            eps_lower=config.eps_lower,
            eps_higher=config.eps_higher,
        ),
        "actor/entropy": compute_mean(experience.entropy_BT, is_generated_BT, mean=config.mean).item(),
        "critic/advantages/mean": advantages.mean().item() if advantages.numel() else 0.0,
        **measure_values(experience.values_BT, experience.targets_BT, is_generated_BT=is_generated_BT),
        **measure_mismatch(experience.old_logprobs_BT, rollout, is_generated_BT=is_generated_BT),
        **measure_floor(experience.old_logprobs_BT, rollout, is_generated_BT=is_generated_BT),
    }

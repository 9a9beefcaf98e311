"""What a batch is worth before an update: parts of it are as the whole."""

import torch

from cuda_agent.rl.batch import build_batch
from cuda_agent.rl.config import GaeConfig, PpoConfig
from cuda_agent.rl.experience import build_experience, compute_all_values, score_all_tokens
from cuda_agent.rl.policy import build_critic, compute_values, score_tokens
from tests.rl.toy import build_policy, build_sequences


def test_in_parts_is_as_at_once() -> None:
    actor = build_policy().model
    critic = build_critic(actor, seed=0)
    batch = build_batch(build_sequences(5))
    config = PpoConfig(micro_batch=2)
    torch.testing.assert_close(
        score_all_tokens(actor, batch, config=config).logprobs_BT, score_tokens(actor, batch).logprobs_BT
    )
    torch.testing.assert_close(
        compute_all_values(critic, batch, config=config), compute_values(critic, batch)
    )


def test_advantages_are_rewards_less_values() -> None:
    """With lambda 1 an advantage is what comes less what was expected, and a target what comes."""
    actor = build_policy().model
    critic = build_critic(actor, seed=0)
    batch = build_batch(build_sequences(4))
    config = PpoConfig(normalise=False, gae=GaeConfig(gae_lambda=1.0))
    experience = build_experience(actor, critic, batch=batch, config=config)
    mask, rewards = batch.is_generated_BT, batch.rewards_BT.sum(dim=1, keepdim=True)
    expected = torch.where(mask, rewards - experience.values_BT, 0.0)
    torch.testing.assert_close(experience.advantages_BT, expected)
    torch.testing.assert_close(experience.targets_BT, torch.where(mask, rewards, 0.0))
    normalised = build_experience(actor, critic, batch=batch, config=PpoConfig()).advantages_BT[mask]
    assert abs(float(normalised.mean())) < 1e-6


def test_a_part_has_no_padding_of_others() -> None:
    actor = build_policy().model
    critic = build_critic(actor, seed=0)
    long, short = build_sequences(1)[0], build_sequences(1, seed=1)[0]
    short = type(short)(short.ids[:4], short.is_generated[:4], short.logprobs[:4], short.reward)
    experience = build_experience(
        actor, critic, batch=build_batch([long, short]), config=PpoConfig(normalise=False)
    )
    first, second = experience.split(1)
    assert first.values_BT.shape == first.batch.ids_BT.shape == (1, 6)
    assert second.values_BT.shape == second.batch.ids_BT.shape == (1, 4)
    assert torch.equal(second.targets_BT[0], experience.targets_BT[1, :4])

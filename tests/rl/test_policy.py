"""Actor and critic: what they say belongs to the token it is said of, and they survive the disk."""

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor
from transformers import BertConfig, BertForTokenClassification, PreTrainedModel

from cuda_agent.errors import UserError
from cuda_agent.rl.batch import Batch, TokenSequence, build_batch
from cuda_agent.rl.policy import (
    build_actor,
    build_critic,
    choose_device,
    compute_values,
    load_critic,
    load_policy,
    save_network,
    score_tokens,
)
from tests.rl.toy import SIZES, VOCABULARY, build_policy


def build_row(*ids: int) -> TokenSequence:
    generated = tuple(place > 0 for place in range(len(ids)))
    return TokenSequence(ids=ids, is_generated=generated, logprobs=(0.0,) * len(ids), reward=1.0)


def build_rows(*rows: tuple[int, ...]) -> Batch:
    return build_batch([build_row(*row) for row in rows])


def test_a_logprob_is_of_its_own_token() -> None:
    """The two-token reply of field report U59."""
    actor = build_policy().model
    scores = score_tokens(actor, build_rows((1, 2, 3)))
    first = actor(input_ids=torch.tensor([[1]])).logits[0, -1].log_softmax(dim=-1)
    second = actor(input_ids=torch.tensor([[1, 2]])).logits[0, -1].log_softmax(dim=-1)
    expected = torch.stack([torch.tensor(0.0), first[2], second[3]])
    torch.testing.assert_close(scores.logprobs_BT[0], expected)
    assert scores.logprobs_BT.requires_grad
    torch.testing.assert_close(scores.entropy_BT[0, 2], -(second.exp() * second).sum())


def test_a_value_is_of_the_state_before_its_token() -> None:
    critic = build_critic(build_policy().model, seed=0)
    values = compute_values(critic, build_rows((1, 2, 3, 4)))[0]
    torch.testing.assert_close(values[2], critic(input_ids=torch.tensor([[1, 2]])).logits[0, -1, 0])
    other = compute_values(critic, build_rows((1, 2, 9, 9)))[0]
    assert torch.equal(values[:3], other[:3])
    assert values[3] != other[3]


def test_padding_changes_nothing() -> None:
    actor = build_policy().model
    critic = build_critic(actor, seed=0)
    alone, beside = build_rows((1, 2, 3)), build_rows((1, 2, 3), (4, 5, 6, 7, 8, 9))
    torch.testing.assert_close(
        score_tokens(actor, beside).logprobs_BT[0, :3], score_tokens(actor, alone).logprobs_BT[0]
    )
    torch.testing.assert_close(compute_values(critic, beside)[0, :3], compute_values(critic, alone)[0])


def read_head(critic: PreTrainedModel) -> Tensor:
    return critic.get_parameter("score.weight")


def test_a_critic_begins_with_the_actors_trunk_and_has_its_own() -> None:
    actor = build_policy().model
    critic = build_critic(actor, seed=0)
    pairs = list(zip(actor.base_model.parameters(), critic.base_model.parameters(), strict=True))
    assert all(torch.equal(mine, its) and mine is not its for mine, its in pairs)
    assert critic.config.num_labels == 1
    assert torch.equal(read_head(critic), read_head(build_critic(actor, seed=0)))
    assert not torch.equal(read_head(critic), read_head(build_critic(actor, seed=1)))


def test_new_weights_follow_from_the_seed_alone() -> None:
    torch.manual_seed(5)
    before = torch.get_rng_state()
    one, same, other = (build_actor(SIZES, VOCABULARY, seed=seed).state_dict() for seed in (1, 1, 2))
    assert all(torch.equal(one[name], same[name]) for name in one)
    assert not torch.equal(one["model.embed_tokens.weight"], other["model.embed_tokens.weight"])
    assert torch.equal(before, torch.get_rng_state())


def test_a_critic_survives_the_disk(tmp_path: Path) -> None:
    critic = build_critic(build_policy().model, seed=0)
    save_network(critic, tmp_path / "critic")
    loaded = load_critic(str(tmp_path / "critic"), device=torch.device("cpu"))
    batch = build_rows((1, 2, 3))
    assert torch.equal(compute_values(loaded, batch), compute_values(critic, batch))


def test_a_classifier_of_many_labels_is_no_critic(tmp_path: Path) -> None:
    sizes = BertConfig(
        vocab_size=12, hidden_size=8, num_hidden_layers=1, num_attention_heads=2, intermediate_size=8
    )
    bert: Any = BertForTokenClassification
    save_network(bert(sizes), tmp_path)
    with pytest.raises(UserError, match="has 2 labels, and a critic has one"):
        load_critic(str(tmp_path), device=torch.device("cpu"))


def test_a_folder_without_a_network_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"cannot be loaded \(a folder\)"):
        load_policy(str(tmp_path), device=torch.device("cpu"))


def test_a_device_that_is_none_is_an_error() -> None:
    assert choose_device("cpu").type == "cpu"
    with pytest.raises(UserError, match="is no device"):
        choose_device("gpu")

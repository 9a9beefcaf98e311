"""Advantages, by hand and by property: what a tool printed changes none of them."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from cuda_agent.rl.gae import compute_gae, normalise_advantages


def compute_row(
    rewards: list[float], values: list[float], *, generated: list[bool], gamma: float, gae_lambda: float
) -> tuple[list[float], list[float]]:
    advantages, targets = compute_gae(
        torch.tensor([rewards], dtype=torch.float64),
        torch.tensor([values], dtype=torch.float64),
        is_generated_BT=torch.tensor([generated]),
        gamma=gamma,
        gae_lambda=gae_lambda,
    )
    return advantages[0].tolist(), targets[0].tolist()


def test_two_token_response_by_hand() -> None:
    # Prompt, token 1 with V = 0.5, token 2 with V = 0.25 and the reward 1; gamma 0.9, lambda 0.5.
    # Last: delta = 1 + 0 - 0.25 = 0.75. First: delta = 0 + 0.9 * 0.25 - 0.5 = -0.275, and 0.45 * 0.75 more.
    advantages, targets = compute_row(
        [0, 0, 1], [9, 0.5, 0.25], generated=[False, True, True], gamma=0.9, gae_lambda=0.5
    )
    assert advantages == pytest.approx([0, 0.0625, 0.75])
    assert targets == pytest.approx([0, 0.5625, 1.0])


@pytest.mark.parametrize("tool_tokens", [0, 10, 1000])
def test_tool_tokens_carry_no_decay(tool_tokens: int) -> None:
    # Eight generated tokens, reward 1 on the last, V = 0: the first has lambda^7, whatever lies between.
    generated = [False] + [True] * 4 + [False] * tool_tokens + [True] * 4
    rewards = [0.0] * (len(generated) - 1) + [1.0]
    advantages, _ = compute_row(
        rewards, [0.0] * len(generated), generated=generated, gamma=1.0, gae_lambda=0.95
    )
    assert advantages[1] == pytest.approx(0.95**7)
    assert round(advantages[1], 3) == 0.698


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_only_generated_tokens_matter(data: st.DataObject) -> None:
    numbers = st.floats(-3, 3, allow_nan=False)
    steps = data.draw(st.lists(st.tuples(numbers, numbers), min_size=1, max_size=6))
    gaps = data.draw(st.lists(st.integers(0, 3), min_size=len(steps), max_size=len(steps)))
    rewards, values, generated = [], [], []
    for (reward, value), gap in zip(steps, gaps, strict=True):
        rewards += [5.0] * gap + [reward]
        values += [data.draw(numbers)] * gap + [value]
        generated += [False] * gap + [True]
    spread, spread_targets = compute_row(rewards, values, generated=generated, gamma=0.9, gae_lambda=0.8)
    bare_rewards, bare_values = (list(column) for column in zip(*steps, strict=True))
    dense, dense_targets = compute_row(
        bare_rewards, bare_values, generated=[True] * len(steps), gamma=0.9, gae_lambda=0.8
    )
    kept = [place for place, is_step in enumerate(generated) if is_step]
    assert [spread[place] for place in kept] == pytest.approx(dense)
    assert [spread_targets[place] for place in kept] == pytest.approx(dense_targets)
    assert not any(spread[place] for place in range(len(generated)) if place not in kept)


def test_lambda_one_gives_returns_minus_values() -> None:
    advantages, targets = compute_row(
        [0.0, 1.0, 2.0], [0, 0.3, 0.7], generated=[False, True, True], gamma=1.0, gae_lambda=1.0
    )
    assert targets == pytest.approx([0, 3.0, 2.0])
    assert advantages == pytest.approx([0, 2.7, 1.3])


def test_nothing_generated_is_legal() -> None:
    assert compute_row([1.0], [2.0], generated=[False], gamma=1.0, gae_lambda=0.95) == ([0.0], [0.0])
    empty = torch.zeros(0, 0)
    assert compute_gae(empty, empty, is_generated_BT=empty.bool())[0].shape == (0, 0)


def test_normalised_advantages_are_of_generated_tokens_only() -> None:
    is_generated = torch.tensor([[False, True, True], [True, True, False]])
    advantages = torch.tensor([[100.0, 1.0, 2.0], [3.0, 4.0, -100.0]])
    normal = normalise_advantages(advantages, is_generated)
    assert normal[is_generated].mean().item() == pytest.approx(0, abs=1e-6)
    assert normal[is_generated].std(correction=0).item() == pytest.approx(1, abs=1e-6)
    assert normal[~is_generated].tolist() == [0.0, 0.0]


@pytest.mark.parametrize("advantages", [[[3.0, 3.0]], [[3.0, 9.0]]])
def test_equal_or_single_advantages_become_zero(advantages: list[list[float]]) -> None:
    is_generated = torch.tensor([[True, advantages[0][0] == advantages[0][1]]])
    assert normalise_advantages(torch.tensor(advantages), is_generated).tolist() == [[0.0, 0.0]]

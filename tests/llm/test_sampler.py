"""Log-probabilities against values by hand, and draws against their probabilities."""

import math

import pytest

torch = pytest.importorskip("torch")

from cuda_agent.llm.sampler import TokenSampler, compute_logprobs  # noqa: E402

SCORES = torch.log(torch.tensor([[0.5, 0.3, 0.15, 0.05]]))
CPU = torch.device("cpu")


def compute(temperature: float, top_p: float) -> list[float]:
    return [float(value) for value in compute_logprobs(SCORES, temperature=temperature, top_p=top_p)[0].exp()]


def test_temperature_one_is_the_model_itself() -> None:
    assert compute(1.0, 1.0) == pytest.approx([0.5, 0.3, 0.15, 0.05])


def test_temperature_two_takes_square_roots() -> None:
    roots = [math.sqrt(p) for p in (0.5, 0.3, 0.15, 0.05)]
    assert compute(2.0, 1.0) == pytest.approx([root / sum(roots) for root in roots])


def test_temperature_zero_leaves_the_likeliest_alone() -> None:
    assert compute(0.0, 1.0) == [1.0, 0.0, 0.0, 0.0]


def test_top_p_leaves_the_fewest_that_reach_it() -> None:
    assert compute(1.0, 0.75) == pytest.approx([0.625, 0.375, 0.0, 0.0])
    assert compute(1.0, 0.01) == [1.0, 0.0, 0.0, 0.0]


def draw(seeds: list[int], steps: int) -> tuple[list[list[int]], list[list[float]]]:
    sampler = TokenSampler(seeds, temperature=1.0, top_p=1.0, device=CPU)
    scores = SCORES.expand(len(seeds), -1)
    chosen = [sampler(torch.zeros(len(seeds), 1), scores).argmax(-1).tolist() for _ in range(steps)]
    return [list(row) for row in zip(*chosen, strict=True)], sampler.logprobs


def test_draws_follow_the_probabilities_and_carry_them() -> None:
    ids, logprobs = draw([7], 4000)
    share = [ids[0].count(token) / 4000 for token in range(4)]
    # Four standard deviations of a share of one half.
    assert share == pytest.approx([0.5, 0.3, 0.15, 0.05], abs=4 * 0.5 / math.sqrt(4000))
    expected = [float(SCORES[0, token]) for token in ids[0]]
    assert logprobs[0] == pytest.approx(expected)


def test_a_row_does_not_depend_on_its_neighbours() -> None:
    alone, _ = draw([5], 50)
    among, _ = draw([1, 5, 9], 50)
    assert among[1] == alone[0]
    assert among[0] != among[1]

"""The estimators are the means over all choices, counted here one by one."""

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cuda_agent.agent.estimators import compute_best_of_k, compute_pass_at_k, list_ks


def test_known_values() -> None:
    assert compute_pass_at_k(tries=10, passed=3, k=1) == pytest.approx(0.3)
    assert compute_pass_at_k(tries=4, passed=2, k=2) == pytest.approx(5 / 6)
    assert compute_pass_at_k(tries=8, passed=0, k=8) == 0.0
    assert compute_pass_at_k(tries=8, passed=1, k=8) == 1.0
    assert compute_best_of_k([3.0, -1.0, 1.0], 2) == pytest.approx((3.0 + 3.0 + 1.0) / 3)


@given(st.lists(st.sampled_from([-1.0, 1.0, 2.0, 3.0]), min_size=1, max_size=7), st.data())
def test_they_are_the_means_over_all_choices(rewards: list[float], data: st.DataObject) -> None:
    k = data.draw(st.integers(1, len(rewards)))
    choices = list(combinations(rewards, k))
    passed = sum(reward > 0 for reward in rewards)
    expected = sum(any(reward > 0 for reward in choice) for choice in choices) / len(choices)
    assert compute_pass_at_k(tries=len(rewards), passed=passed, k=k) == pytest.approx(expected)
    assert compute_best_of_k(rewards, k) == pytest.approx(sum(map(max, choices)) / len(choices))


def test_what_makes_no_sense_is_refused() -> None:
    with pytest.raises(ValueError, match="k must be from 1 to the number of tries, 3; got 4"):
        compute_pass_at_k(tries=3, passed=1, k=4)
    with pytest.raises(ValueError, match="cannot have passed"):
        compute_pass_at_k(tries=3, passed=4, k=1)
    with pytest.raises(ValueError, match="got 0"):
        compute_best_of_k([1.0], 0)


def test_which_ks_are_told() -> None:
    assert [list_ks(tries) for tries in (1, 2, 3, 8, 10)] == [
        (1,),
        (1, 2),
        (1, 2, 3),
        (1, 2, 4, 8),
        (1, 2, 4, 8, 10),
    ]

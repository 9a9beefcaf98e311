"""The data's order follows from seed and step."""

import pytest

from cuda_agent.rl.order import choose_rows, derive_seed, shuffle_rows


def test_every_row_is_met_once_before_any_is_met_again() -> None:
    met = [row for step in range(5) for row in choose_rows(10, 4, step=step, seed=3).tolist()]
    assert sorted(met[:10]) == list(range(10))
    assert sorted(met[10:20]) == list(range(10))
    assert met[:10] != met[10:20]


def test_a_step_is_the_same_whatever_came_before() -> None:
    assert choose_rows(10, 4, step=7, seed=3).tolist() == choose_rows(10, 4, step=7, seed=3).tolist()
    assert choose_rows(10, 4, step=7, seed=3).tolist() != choose_rows(10, 4, step=7, seed=4).tolist()


def test_a_batch_larger_than_the_data_is_the_data() -> None:
    assert sorted(choose_rows(3, 8, step=1, seed=0).tolist()) == [0, 1, 2]


def test_no_data_is_an_error() -> None:
    with pytest.raises(ValueError, match="no rows"):
        choose_rows(0, 8, step=0, seed=0)


def test_seeds_follow_from_every_word() -> None:
    seeds = {derive_seed("a", 1, 2), derive_seed("a", 2, 1), derive_seed("b", 1, 2), derive_seed("a", 12)}
    assert len(seeds) == 4
    assert shuffle_rows(20, seed=1).tolist() != shuffle_rows(20, seed=2).tolist()

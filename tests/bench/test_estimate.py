"""Shares have Wilson's intervals, means bootstraps."""

import numpy as np
import pytest

from cuda_agent.bench.estimate import estimate_share, estimate_statistic


@pytest.mark.parametrize(
    ("hits", "count", "low", "high"),
    [(0, 10, 0.0, 0.2775), (10, 10, 0.7225, 1.0), (5, 10, 0.2366, 0.7634), (81, 263, 0.2553, 0.3662)],
)
def test_the_interval(hits: int, count: int, low: float, high: float) -> None:
    found = estimate_share(hits, count)
    assert (found.value, found.n) == (hits / count, count)
    assert found.low == pytest.approx(low, abs=1e-4)
    assert found.high == pytest.approx(high, abs=1e-4)


@pytest.mark.parametrize(("hits", "count"), [(0, 0), (2, 1), (-1, 3)])
def test_no_share(hits: int, count: int) -> None:
    with pytest.raises(ValueError, match="no share"):
        estimate_share(hits, count)


def test_a_mean_has_a_bootstrap_that_knows_no_order() -> None:
    values = [1.0, 2.0, 4.0, 9.0]
    found = estimate_statistic(values, lambda numbers: np.asarray(numbers.mean(axis=-1)))
    assert (found.value, found.n) == (4.0, 4)
    assert 1.0 < found.low < 4.0 < found.high < 9.0
    assert estimate_statistic(values[::-1], lambda numbers: np.asarray(numbers.mean(axis=-1))) == found


def test_no_mean() -> None:
    with pytest.raises(ValueError, match="no record"):
        estimate_statistic([], lambda numbers: np.asarray(numbers.mean(axis=-1)))

"""Shares have Wilson's intervals."""

import pytest

from cuda_agent.bench.share import estimate_share


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

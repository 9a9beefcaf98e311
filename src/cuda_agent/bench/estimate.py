"""A number of a few tasks, with the interval that so few of them allow."""

import functools
import math
from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np

from cuda_agent.config import Record

RESAMPLES = 2000
CONFIDENCE = 0.95
SEED = 20260204
PIECE = 1 << 20
"""Numbers resampled at a time: as many as a processor's cache holds."""
_Z = 1.959964
"""Standard deviations to either side that hold 95 % of a normal distribution."""

Numbers: TypeAlias = "np.ndarray[tuple[int, ...], np.dtype[np.float64]]"
Statistic: TypeAlias = Callable[[Numbers], Numbers]
"""Reduces the last axis, one number a task, where NaN is a task without a correct solution."""


class Estimate(Record):
    """A number with its interval and what it is of."""

    value: float
    """The number itself."""
    low: float
    """Lower end of the 95 % interval."""
    high: float
    """Upper end."""
    n: int
    """How many records it is over."""


def estimate_share(hits: int, count: int) -> Estimate:
    """Hits over count, with Wilson's 95 % interval (Wilson 1927), which is honest at 0 % and 100 %, too.

    Raises:
        ValueError: there is nothing to take a share of.
    """
    if not 0 <= hits <= count or not count:
        raise ValueError(f"{hits} of {count} is no share")
    share, spread = hits / count, _Z * _Z / count
    middle = (share + spread / 2) / (1 + spread)
    reach = _Z * math.sqrt(share * (1 - share) / count + spread / (4 * count)) / (1 + spread)
    # At a share of 0 or 1 an end is the share itself, which rounding may miss.
    low, high = min(max(middle - reach, 0.0), share), max(min(middle + reach, 1.0), share)
    return Estimate(value=share, low=low, high=high, n=count)


def estimate_statistic(values: Sequence[float], statistic: Statistic) -> Estimate:
    """A statistic of one number a task, with its percentile bootstrap over tasks.

    The numbers are sorted first, so that their order cannot matter.

    Raises:
        ValueError: there is no number.
    """
    if not values:
        raise ValueError("there is nothing to take a mean of: no record was given")
    return _bootstrap(tuple(np.sort(np.asarray(values, dtype=float)).tolist()), statistic)


# One report asks for the same number in its overview, its row and its only level's row.
@functools.lru_cache(maxsize=256)
def _bootstrap(values: tuple[float, ...], statistic: Statistic) -> Estimate:
    numbers, n = np.asarray(values), len(values)
    point = float(statistic(numbers))
    random = np.random.default_rng(SEED)
    rows = max(1, PIECE // n)
    pieces = [
        statistic(numbers[random.integers(0, n, (min(rows, RESAMPLES - start), n))])
        for start in range(0, RESAMPLES, rows)
    ]
    resampled = np.concatenate(pieces)
    known = resampled[np.isfinite(resampled)]
    tail = (1.0 - CONFIDENCE) / 2.0
    low, high = np.quantile(known, [tail, 1.0 - tail]) if len(known) else (point, point)
    return Estimate(value=point, low=min(float(low), point), high=max(float(high), point), n=n)

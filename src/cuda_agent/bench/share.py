"""A share of tasks, with the interval that so few of them allow."""

import math

from cuda_agent.bench.metrics import Estimate

_Z = 1.959964
"""Standard deviations to either side that hold 95 % of a normal distribution."""


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
    return Estimate(value=share, low=max(middle - reach, 0.0), high=min(middle + reach, 1.0), n=count)

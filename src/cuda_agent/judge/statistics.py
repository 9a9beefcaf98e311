"""From blocks of times to a ratio with an interval."""

from collections.abc import Sequence

import numpy as np

from cuda_agent.judge.result import Ratio, Timing

_RESAMPLES = 2000
_SEED = 20260204


def build_timing(rounds: Sequence[Sequence[float]]) -> Timing:
    """All calls of one contestant, in milliseconds, from its rounds.

    Raises:
        ValueError: there is no call, or a time is not a positive finite number.
    """
    calls_ms = tuple(call_ms for block in rounds for call_ms in block)
    if not calls_ms or not all(np.isfinite(call_ms) and call_ms > 0 for call_ms in calls_ms):
        raise ValueError("times must be positive and finite, and there must be some")
    return Timing(median_ms=float(np.median(calls_ms)), calls_ms=calls_ms)


def compute_ratio(
    baseline: Sequence[Sequence[float]], candidate: Sequence[Sequence[float]], *, confidence: float
) -> Ratio:
    """Speed-up of candidate over baseline, with a bootstrap interval.

    Rounds are resampled in pairs, since both contestants of a round saw the same machine, and calls
    are resampled within each block. The statistic is the ratio of medians. The generator's seed is
    fixed, so the same times give the same interval.

    Args:
        baseline: one sequence of times in milliseconds for each round.
        candidate: likewise, the same number of rounds.
        confidence: two-sided, such as 0.95.
    """
    b, c = np.asarray(baseline, dtype=float), np.asarray(candidate, dtype=float)
    point = float(np.median(b) / np.median(c))
    generator = np.random.default_rng(_SEED)
    rounds = generator.integers(0, len(b), (_RESAMPLES, len(b)))
    ratios = _resample_medians(b, rounds, generator=generator) / _resample_medians(
        c, rounds, generator=generator
    )
    tail = (1.0 - confidence) / 2.0
    low, high = np.quantile(ratios, [tail, 1.0 - tail])
    return Ratio(point=point, low=min(float(low), point), high=max(float(high), point))


def _resample_medians(
    times: "np.ndarray[tuple[int, int], np.dtype[np.float64]]",
    rounds: "np.ndarray[tuple[int, int], np.dtype[np.int64]]",
    *,
    generator: np.random.Generator,
) -> "np.ndarray[tuple[int], np.dtype[np.float64]]":
    calls = generator.integers(0, times.shape[1], (*rounds.shape, times.shape[1]))
    drawn = times[rounds[:, :, None], calls]
    return np.asarray(np.median(drawn.reshape(len(rounds), -1), axis=1))

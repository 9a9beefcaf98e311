"""Ratios with honest intervals."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cuda_agent.judge.profile import MARGIN_RATIO
from cuda_agent.judge.statistics import build_timing, compute_ratio

BLOCKS = st.lists(st.lists(st.floats(0.1, 100.0), min_size=5, max_size=5), min_size=2, max_size=8)


def test_a_clear_speedup_has_a_narrow_interval() -> None:
    generator = np.random.default_rng(0)
    slow = 10 + generator.normal(0, 0.1, (6, 5))
    fast = 5 + generator.normal(0, 0.1, (6, 5))
    ratio = compute_ratio(slow.tolist(), fast.tolist(), confidence=0.95)
    assert ratio.point == pytest.approx(2.0, rel=0.03)
    assert 1.9 < ratio.low <= ratio.point <= ratio.high < 2.1


def test_a_drifting_machine_does_not_decide() -> None:
    drift = np.linspace(1.0, 3.0, 6)[:, None] * np.ones((6, 5))
    ratio = compute_ratio((drift * 1.0).tolist(), (drift * 1.0).tolist(), confidence=0.95)
    assert ratio.low == ratio.high == ratio.point == 1.0


def test_a_tie_is_not_faster_however_noisy_the_machine() -> None:
    at_point = 0
    for noise in (0.02, 0.2, 0.5):
        generator = np.random.default_rng(0)
        for _ in range(100):
            one, other = generator.lognormal(0.0, noise, (2, 6, 3))
            ratio = compute_ratio(one.tolist(), other.tolist(), confidence=0.95)
            assert ratio.low <= MARGIN_RATIO
            at_point += ratio.point > MARGIN_RATIO
    assert at_point > 50


def test_one_stray_call_moves_nothing() -> None:
    steady = [[2.0, 2.0, 2.0]] * 6
    stray = [[1.0, 1.0, 190.0], *[[1.0, 1.0, 1.0]] * 5]
    ratio = compute_ratio(steady, stray, confidence=0.95)
    assert (ratio.low, ratio.point, ratio.high) == (2.0, 2.0, 2.0)


@given(BLOCKS)
def test_the_interval_holds_the_point_and_repeats(blocks: list[list[float]]) -> None:
    other = [[value * 1.5 for value in block] for block in blocks]
    ratio = compute_ratio(other, blocks, confidence=0.9)
    assert ratio.low <= ratio.point <= ratio.high
    assert ratio == compute_ratio(other, blocks, confidence=0.9)


@pytest.mark.parametrize("bad", [[], [[]], [[0.0]], [[-1.0]], [[math.nan]], [[math.inf]]])
def test_impossible_times_are_an_error(bad: list[list[float]]) -> None:
    with pytest.raises(ValueError, match="positive and finite"):
        build_timing(bad)


def test_the_median_is_over_all_calls() -> None:
    timing = build_timing([[1.0, 2.0], [3.0, 100.0]])
    assert timing.median_ms == 2.5
    assert timing.calls_ms == (1.0, 2.0, 3.0, 100.0)

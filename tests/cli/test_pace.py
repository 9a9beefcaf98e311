"""Rate and time left follow from how much was done in which time."""

import time

import pytest

from cuda_agent.cli.pace import Pace


def test_the_rate_so_far_says_what_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    now_s = 100.0
    monkeypatch.setattr(time, "monotonic", lambda: now_s)
    pace = Pace(8)
    assert pace.tell(1) == "1/8, 0 s left"  # no time has gone by, so no rate is known
    now_s = 130.0
    assert pace.elapsed_s == 30.0
    assert pace.tell(2) == "2/8, 240 an hour, 90 s left"
    assert pace.tell(8) == "8/8, 960 an hour, 0 s left"

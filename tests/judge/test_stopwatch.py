"""Seconds add up under their names, also of what fails."""

import time

import pytest

from cuda_agent.judge.stopwatch import Stopwatch


def test_what_has_one_name_adds_up() -> None:
    watch = Stopwatch()
    for _ in range(2):
        with watch.time("wait"):
            time.sleep(0.02)
    with watch.time("verify"):
        pass
    assert list(watch.seconds) == ["wait", "verify"]
    assert watch.seconds["wait"] >= 0.04 > watch.seconds["verify"]


def test_what_fails_counts() -> None:
    watch = Stopwatch()

    def fail() -> None:
        time.sleep(0.01)
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"), watch.time("load"):
        fail()
    assert watch.seconds["load"] >= 0.01

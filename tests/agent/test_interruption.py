"""Who waits is let go, and what was waited for comes back as it is."""

import threading
import time

import pytest

from cuda_agent.agent.interruption import EpisodeInterruptedError, Interruption


def fail() -> int:
    raise KeyError("x")


def interrupt() -> int:
    raise KeyboardInterrupt


def test_results_and_failures_come_back() -> None:
    interruption = Interruption()
    assert interruption.call(lambda: 7) == 7
    with pytest.raises(KeyError):
        interruption.call(fail)
    with pytest.raises(KeyboardInterrupt):
        interruption.call(interrupt)


def test_whoever_waits_is_let_go_and_nothing_begins_afterwards() -> None:
    interruption = Interruption()
    threading.Timer(0.1, interruption.set).start()
    start_s = time.monotonic()
    with pytest.raises(EpisodeInterruptedError):
        interruption.call(lambda: time.sleep(30.0))
    assert time.monotonic() - start_s < 5.0
    begun = threading.Event()
    with pytest.raises(EpisodeInterruptedError):
        interruption.call(begun.set)
    assert not begun.wait(0.1)


def test_time_may_be_limited() -> None:
    with pytest.raises(TimeoutError):
        Interruption().call(lambda: time.sleep(30.0), timeout_s=0.05)

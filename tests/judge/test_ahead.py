"""Work begun ahead."""

import threading
import time

import pytest

from cuda_agent.judge.ahead import Ahead


def test_it_goes_on_meanwhile_and_is_awaited_once() -> None:
    may_end = threading.Event()
    done: list[str] = []

    def work() -> None:
        may_end.wait()
        done.append("work")

    ahead = Ahead(work)
    done.append("meanwhile")
    may_end.set()
    ahead.finish()
    assert done == ["meanwhile", "work"]


def test_an_error_shows_where_the_work_is_awaited() -> None:
    ahead = Ahead(lambda: [][1])
    with pytest.raises(IndexError):
        ahead.finish()


def test_what_does_not_end_is_abandoned() -> None:
    start = time.monotonic()
    may_end = threading.Event()
    Ahead(may_end.wait).abandon(timeout_s=0.05)
    assert time.monotonic() - start < 5
    may_end.set()

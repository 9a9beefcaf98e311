"""Who measures is alone; work is shared."""

import threading
from pathlib import Path

from cuda_agent.judge.lease import Lease
from cuda_agent.synthesis.quiet import Turns


def make_turns(tmp_path: Path, *, at_once: int = 9) -> Turns:
    return Turns(Lease("device", folder=tmp_path), at_once=at_once)


def test_work_is_shared_and_quiet_waits_for_it(tmp_path: Path) -> None:
    turns, events = make_turns(tmp_path), []

    def measure() -> None:
        with turns.quiet():
            events.append("measured")

    with turns.work(), turns.work():
        thread = threading.Thread(target=measure)
        thread.start()
        thread.join(0.1)
        events.append("worked")
    thread.join()
    assert events == ["worked", "measured"]


def test_new_work_waits_for_whoever_waits_to_measure(tmp_path: Path) -> None:
    turns, events = make_turns(tmp_path), []
    started = threading.Event()

    def measure() -> None:
        started.set()
        with turns.quiet():
            events.append("measured")

    def work() -> None:
        with turns.work():
            events.append("worked")

    with turns.work():
        threads = [threading.Thread(target=measure)]
        threads[0].start()
        started.wait()
        threads[0].join(0.1)
        threads.append(threading.Thread(target=work))
        threads[1].start()
        threads[1].join(0.1)
    for thread in threads:
        thread.join()
    assert events == ["measured", "worked"]


def test_no_more_work_at_once_than_allowed(tmp_path: Path) -> None:
    turns, events = make_turns(tmp_path, at_once=1), []

    def work() -> None:
        with turns.work():
            events.append("second")

    with turns.work():
        thread = threading.Thread(target=work)
        thread.start()
        thread.join(0.1)
        events.append("first")
    thread.join()
    assert events == ["first", "second"]


def test_whoever_measures_is_alone_among_the_judges_of_the_machine_too(tmp_path: Path) -> None:
    turns, events = make_turns(tmp_path), []

    def measure() -> None:
        with turns.quiet():
            events.append("measured")

    with Lease("device", folder=tmp_path).share():
        thread = threading.Thread(target=measure)
        thread.start()
        thread.join(0.1)
        events.append("judged")
    thread.join()
    assert events == ["judged", "measured"]

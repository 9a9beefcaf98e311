"""Who measures is alone; work is shared."""

import threading

from cuda_agent.synthesis.quiet import Turns


def test_work_is_shared_and_quiet_waits_for_it() -> None:
    turns, events = Turns(), []

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


def test_new_work_waits_for_whoever_waits_to_measure() -> None:
    turns, events = Turns(), []
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

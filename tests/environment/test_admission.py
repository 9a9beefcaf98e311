"""So many work at once, and the longest idle one gives way."""

import threading
import time

from cuda_agent.environment.admission import Admission


class Owner:
    """Notes when its judge is ended."""

    def __init__(self) -> None:
        self.cooled = 0

    def cool(self) -> bool:
        self.cooled += 1
        return True


def test_the_longest_idle_gives_up_its_warm_judge() -> None:
    admission = Admission(1)
    first, second, third = Owner(), Owner(), Owner()
    assert admission.claim(first)
    with admission.enter(second):
        pass
    assert not admission.claim(third)
    with admission.enter(first):
        pass
    with admission.enter(third):
        assert (first.cooled, second.cooled, third.cooled) == (0, 1, 0)
    admission.leave(first)
    assert admission.claim(second)
    with admission.enter(second):
        assert (first.cooled, second.cooled, third.cooled) == (0, 1, 0)


def test_no_more_than_there_are_places_work_at_once() -> None:
    admission = Admission(2)
    working, most = 0, 0
    lock = threading.Lock()

    def work() -> None:
        nonlocal working, most
        with admission.enter(Owner()):
            with lock:
                working += 1
                most = max(most, working)
            time.sleep(0.02)
            with lock:
                working -= 1

    threads = [threading.Thread(target=work) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == 2

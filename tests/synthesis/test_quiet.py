"""Who measures is alone; work is shared."""

import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path

import pytest

from cuda_agent.judge.lease import Lease
from cuda_agent.synthesis.quiet import Turns

Ways = dict[str, Callable[[], AbstractContextManager[None]]]

CASES = {
    "work is shared": (9, ["work"], ["work"], ["work", "first"]),
    "who measures waits for work": (9, ["work", "work"], ["quiet"], ["first", "quiet"]),
    "work waits for who measures": (9, ["quiet"], ["work"], ["first", "work"]),
    "who measures is alone": (9, ["quiet"], ["quiet"], ["first", "quiet"]),
    "new work waits for who waits to measure": (9, ["work"], ["quiet", "work"], ["first", "quiet", "work"]),
    "no more work at once than allowed": (1, ["work"], ["work"], ["first", "work"]),
    "who measures waits for judges": (9, ["judge"], ["quiet"], ["first", "quiet"]),
    "work is shared with judges": (9, ["judge"], ["work"], ["work", "first"]),
}
"""How many may work at once, what goes on, what wants to begin meanwhile, and what happens in which order."""


@pytest.mark.parametrize("case", CASES)
def test_turns(tmp_path: Path, case: str) -> None:
    at_once, held, wanted, expected = CASES[case]
    lease = Lease("device", folder=tmp_path)
    turns = Turns(lease, at_once=at_once)
    ways: Ways = {"work": turns.work, "quiet": turns.quiet, "judge": lease.share}
    events: list[str] = []
    threads = [threading.Thread(target=take, args=(ways, way), kwargs={"events": events}) for way in wanted]
    with ExitStack() as stack:
        for way in held:
            stack.enter_context(ways[way]())
        for thread in threads:
            thread.start()
            thread.join(0.3)
        events.append("first")
    for thread in threads:
        thread.join(30.0)
    assert events == expected


def take(ways: Ways, way: str, *, events: list[str]) -> None:
    with ways[way]():
        events.append(way)

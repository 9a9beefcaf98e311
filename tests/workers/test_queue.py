"""Who waits longest goes first, unless another suits the worker better."""

from cuda_agent.workers.item import Outcome, Step, Tier, WorkItem
from cuda_agent.workers.queue import PATIENCE_S, Errand, WaitingLine


def make(name: str) -> Errand:
    """An errand of the affinity that its first letter names."""
    step = Step(tier=Tier.HOST, method="work", limit_s=1.0)
    return Errand(WorkItem(item_id=name, payload={}, steps=(step,), affinity=name[0]), _ignore)


def _ignore(_outcome: Outcome) -> None:
    pass


def take(line: WaitingLine, worker: str) -> str:
    errand = line.take(worker)
    assert errand is not None
    return errand.item.item_id


def test_a_worker_keeps_to_its_own_and_leaves_others_theirs() -> None:
    line = WaitingLine()
    for name in ("a1", "a2", "b1", "c1", "b2"):
        line.put(make(name))
    assert take(line, "one") == "a1"
    assert take(line, "two") == "b1"
    assert take(line, "one") == "a2"
    assert take(line, "one") == "c1"
    assert take(line, "one") == "b2"


def test_nobody_waits_for_ever() -> None:
    line = WaitingLine()
    for name in ("a1", "b1", "a2"):
        line.put(make(name))
    assert take(line, "one") == "a1"
    assert line._errands[0].item.item_id == "b1"
    line._errands[0].ready_s -= PATIENCE_S + 1
    assert take(line, "one") == "b1"


def test_what_had_its_turn_goes_first() -> None:
    line = WaitingLine()
    line.put(make("a1"))
    line.put(make("b1"), first=True)
    assert take(line, "one") == "b1"


def test_a_closed_line_sends_workers_away() -> None:
    line = WaitingLine()
    line.put(make("a1"))
    assert [errand.item.item_id for errand in line.drain()] == ["a1"]
    line.close()
    assert line.take("one") is None

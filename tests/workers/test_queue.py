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


def age(line: WaitingLine) -> None:
    """Let everything have happened long ago."""
    for errand in line._errands:
        errand.ready_s -= PATIENCE_S + 1
    for worker, claim in line._claims.items():
        line._claims[worker] = claim._replace(since_s=claim.since_s - PATIENCE_S - 1)


def test_nobody_waits_for_ever() -> None:
    line = WaitingLine()
    for name in ("a1", "b1", "a2", "b2"):
        line.put(make(name))
    assert take(line, "one") == "a1"
    age(line)
    assert [take(line, "one") for _ in range(3)] == ["b1", "b2", "a2"]


def test_a_long_line_is_no_reason_to_change() -> None:
    line = WaitingLine()
    for name in ("a1", "b1", "a2", "b2", "b3", "a3"):
        line.put(make(name))
    assert [take(line, "one"), take(line, "two")] == ["a1", "b1"]
    age(line)
    assert [take(line, worker) for worker in ("two", "one", "one", "two")] == ["b2", "a2", "a3", "b3"]


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

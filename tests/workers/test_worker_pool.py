"""No item is lost, whatever becomes of the workers."""

import functools
import itertools
import os
import queue
import signal
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from cuda_agent.workers.item import Outcome, OutcomeStatus, Step, Tier, WorkItem
from cuda_agent.workers.local import LocalWorker
from cuda_agent.workers.worker import WorkerMaker
from cuda_agent.workers.worker_pool import WorkerPool

ROOT = Path(__file__).resolve().parents[2]
SERVED = "tests.workers.served:Toy"


def make_item(name: str, *, limit_s: float = 30.0, affinity: str = "", **payload: Any) -> WorkItem:  # noqa: ANN401
    steps = (
        Step(tier=Tier.HOST, method="first", limit_s=30.0),
        Step(tier=Tier.DEVICE, method="work", limit_s=limit_s),
    )
    return WorkItem(item_id=name, payload=payload, steps=steps, affinity=affinity)


def plan(number: int, *, sick: Path | None = None) -> WorkerMaker:
    paths = f"{ROOT}{os.pathsep}{ROOT / 'src'}"
    env = {"PYTHONPATH": paths} | ({"SICK": str(sick)} if sick else {})
    return functools.partial(LocalWorker, SERVED, name=f"toy-{number}", env=env)


@pytest.fixture
def pool() -> Iterator[WorkerPool]:
    with WorkerPool({Tier.HOST: [plan(0)], Tier.DEVICE: [plan(1), plan(2)]}) as pool:
        yield pool


def run(pool: WorkerPool, items: Sequence[WorkItem]) -> dict[str, Outcome]:
    outcomes = list(pool.run(items))
    assert len(outcomes) == len(items)
    return {outcome.item_id: outcome for outcome in outcomes}


def test_every_job_has_its_outcome(pool: WorkerPool) -> None:
    outcomes = run(pool, [make_item(str(number), say=f"{number}!") for number in range(100)])
    assert {name: outcome.value["echo"] for name, outcome in outcomes.items() if outcome.value} == {
        str(number): f"{number}!" for number in range(100)
    }
    assert {outcome.status for outcome in outcomes.values()} == {OutcomeStatus.DONE}
    assert [times.method for times in outcomes["7"].times] == ["first", "work"]


def test_a_step_may_be_the_last(pool: WorkerPool) -> None:
    outcome = run(pool, [make_item("a", stop=True)])["a"]
    assert outcome.value == {"seen": "first"}
    assert [times.method for times in outcome.times] == ["first"]


@pytest.mark.parametrize(
    ("do", "status", "words"),
    [
        ("segfault", OutcomeStatus.CRASHED, "SIGSEGV"),
        ("exit", OutcomeStatus.CRASHED, "exit status 3"),
        ("fail", OutcomeStatus.FAILED, "ValueError: it does not work"),
        ("hang", OutcomeStatus.TIMED_OUT, "1 s"),
    ],
)
def test_the_guilty_end_and_the_innocent_go_on(
    do: str, status: OutcomeStatus, words: str, pool: WorkerPool
) -> None:
    items = [make_item(str(number), say="well") for number in range(6)]
    items.insert(2, make_item("guilty", do=do, limit_s=1.0))
    outcomes = run(pool, items)
    guilty = outcomes.pop("guilty")
    assert guilty.status is status
    assert words in guilty.reason
    assert {outcome.status for outcome in outcomes.values()} == {OutcomeStatus.DONE}


@pytest.mark.parametrize("do", ["segfault once", "fail once"])
def test_what_goes_wrong_once_is_tried_again(do: str, pool: WorkerPool, tmp_path: Path) -> None:
    outcome = run(pool, [make_item("a", do=do, mark=str(tmp_path / "mark"), say="well")])["a"]
    assert outcome.value is not None
    assert outcome.value["echo"] == "well"
    assert outcome.times[-1].attempts == 2


def test_what_a_worker_prints_does_not_disturb(pool: WorkerPool) -> None:
    outcome = run(pool, [make_item("a", do="print", say="well")])["a"]
    assert outcome.value is not None
    assert outcome.value["echo"] == "well"


def test_a_killed_worker_loses_nothing(pool: WorkerPool) -> None:
    (first,) = run(pool, [make_item("a")]).values()
    assert first.value is not None
    victim = first.value["pid"]
    threading.Timer(0.5, os.kill, (victim, signal.SIGKILL)).start()
    outcomes = run(pool, [make_item(str(number), seconds=0.3) for number in range(8)])
    assert {outcome.status for outcome in outcomes.values()} == {OutcomeStatus.DONE}
    assert not Path(f"/proc/{victim}").exists()


def test_a_sick_device_is_left_out_and_its_job_done_elsewhere(tmp_path: Path) -> None:
    sick = tmp_path / "sick"
    with WorkerPool({Tier.HOST: [plan(0)], Tier.DEVICE: [plan(1, sick=sick), plan(2)]}) as pool:
        # Whichever has the file in its environment falls ill by it; the other fails the item once.
        items = [make_item(str(number), seconds=0.2) for number in range(4)]
        sick.touch()
        outcomes = run(pool, items)
        assert {outcome.status for outcome in outcomes.values()} == {OutcomeStatus.DONE}
        assert {outcome.times[-1].worker for outcome in outcomes.values()} == {"toy-2"}
        assert len(pool.causes) == 1
        assert "the device is sick" in pool.causes[0]


def test_without_workers_the_first_cause_is_told(tmp_path: Path) -> None:
    (tmp_path / "sick").touch()
    with WorkerPool({Tier.HOST: [plan(0)], Tier.DEVICE: [plan(1, sick=tmp_path / "sick")]}) as pool:
        outcomes = run(pool, [make_item(str(number)) for number in range(3)])
    assert {outcome.status for outcome in outcomes.values()} == {OutcomeStatus.NO_WORKER}
    assert all("the device is sick" in outcome.reason for outcome in outcomes.values())


def test_waiting_has_a_limit_of_its_own(pool: WorkerPool) -> None:
    items = [make_item(f"long {number}", seconds=2.0) for number in range(2)]
    hasty = make_item("hasty").model_copy(update={"queue_limit_s": 0.5})
    outcomes = run(pool, [*items, hasty])
    assert outcomes["hasty"].status is OutcomeStatus.QUEUE_TIMED_OUT
    assert outcomes["long 0"].status is OutcomeStatus.DONE


def test_closing_ends_everything_at_once(tmp_path: Path) -> None:
    pool = WorkerPool({Tier.HOST: [plan(0)], Tier.DEVICE: [plan(1)]})
    outcomes = pool.run([make_item("a"), make_item("b", do="hang", limit_s=600)])
    first = next(outcomes)
    assert first.value is not None
    pid = first.value["pid"]
    start = time.monotonic()
    pool.close()
    assert time.monotonic() - start < 10
    assert not Path(f"/proc/{pid}").exists()


def test_what_waits_can_be_cancelled(pool: WorkerPool) -> None:
    outcomes: queue.SimpleQueue[Outcome] = queue.SimpleQueue()
    for number in range(3):
        pool.submit(make_item(str(number), seconds=1.0), outcomes.put)
    time.sleep(0.2)
    pool.submit(make_item("last"), outcomes.put)
    assert pool.cancel("last")
    assert not pool.cancel("nobody")
    assert outcomes.get(timeout=5).status is OutcomeStatus.CANCELLED
    assert {outcomes.get(timeout=30).status for _ in range(3)} == {OutcomeStatus.DONE}
    assert not pool.cancel("0")


def test_a_clock_that_jumps_disturbs_nothing(pool: WorkerPool, monkeypatch: pytest.MonkeyPatch) -> None:
    jumps = itertools.cycle((-1e9, 1e9, 0.0))
    true_s = time.time
    monkeypatch.setattr(time, "time", lambda: true_s() + next(jumps))
    items = [make_item(str(number), seconds=0.1) for number in range(6)]
    items = [item.model_copy(update={"queue_limit_s": 30.0}) for item in items]
    items.append(make_item("slow", do="hang", limit_s=1.0))
    outcomes = run(pool, items)
    assert outcomes.pop("slow").status is OutcomeStatus.TIMED_OUT
    assert {outcome.status for outcome in outcomes.values()} == {OutcomeStatus.DONE}
    assert all(0.0 <= t.waited_s < 30.0 and t.ran_s < 30.0 for o in outcomes.values() for t in o.times)

"""Ray's workers keep the pool's promises too; four fake GPUs on one machine."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cuda_agent.workers.item import OutcomeStatus, Step, Tier, WorkItem
from cuda_agent.workers.worker_pool import WorkerPool

pytestmark = pytest.mark.ray
HERE = Path(__file__).resolve().parent
# Some packages install a package named tests, so what is served is found without that name.
PATHS = f"{HERE}{os.pathsep}{HERE.parents[1] / 'src'}"


@pytest.fixture(scope="module")
def pool() -> Iterator[WorkerPool]:
    ray = pytest.importorskip("ray")
    from cuda_agent.workers.ray_workers import plan_ray_workers

    env = {"env_vars": {"PYTHONPATH": PATHS}}
    ray.init(num_cpus=2, num_gpus=4, include_dashboard=False, runtime_env=env, log_to_driver=False)
    with WorkerPool(plan_ray_workers("served:Toy", devices=4, host_workers=1)) as pool:
        yield pool
    ray.shutdown()


def make_item(name: str, *, limit_s: float = 60.0, **payload: Any) -> WorkItem:  # noqa: ANN401
    steps = (
        Step(tier=Tier.HOST, method="first", limit_s=60.0),
        Step(tier=Tier.DEVICE, method="work", limit_s=limit_s),
    )
    return WorkItem(item_id=name, payload=payload, steps=steps)


def test_every_item_has_its_outcome_and_all_devices_work(pool: WorkerPool) -> None:
    outcomes = list(pool.run([make_item(str(number), say=f"{number}!", seconds=0.2) for number in range(24)]))
    assert {outcome.item_id: outcome.value["echo"] for outcome in outcomes if outcome.value} == {
        str(number): f"{number}!" for number in range(24)
    }
    assert len({outcome.times[-1].worker for outcome in outcomes}) == 4


@pytest.mark.parametrize(
    ("do", "status"),
    [
        ("segfault", OutcomeStatus.CRASHED),
        ("exit", OutcomeStatus.CRASHED),
        ("fail", OutcomeStatus.FAILED),
        ("hang", OutcomeStatus.TIMED_OUT),
    ],
)
def test_the_guilty_end_and_the_innocent_go_on(do: str, status: OutcomeStatus, pool: WorkerPool) -> None:
    items = [make_item(str(number), say="well") for number in range(4)]
    items.insert(1, make_item("guilty", do=do, limit_s=3.0))
    outcomes = {outcome.item_id: outcome for outcome in pool.run(items)}
    assert outcomes.pop("guilty").status is status
    assert {outcome.status for outcome in outcomes.values()} == {OutcomeStatus.DONE}


def test_what_goes_wrong_once_is_tried_again(pool: WorkerPool, tmp_path: Path) -> None:
    (outcome,) = pool.run([make_item("a", do="segfault once", mark=str(tmp_path / "mark"), say="well")])
    assert outcome.value is not None
    assert outcome.value["echo"] == "well"
    assert outcome.times[-1].attempts == 2

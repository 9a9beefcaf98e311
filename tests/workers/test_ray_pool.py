"""A named pool: found by its name, shared by programs that know nothing of each other, back after a crash."""

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cuda_agent.errors import UserError
from cuda_agent.workers.item import OutcomeStatus, Step, Tier, WorkItem

pytestmark = pytest.mark.ray
HERE = Path(__file__).resolve().parent
# Some packages install a package named tests, so what is served is found without that name.
PATHS = f"{HERE}{os.pathsep}{HERE.parents[1] / 'src'}"
SERVED = "served:Toy"
OTHER_PROGRAM = """
import sys
from cuda_agent.workers.ray_pool import RayPool
from test_ray_pool import make_item

(outcome,) = RayPool("toys").run([make_item("theirs", say="from another program")])
print(outcome.value["echo"], outcome.value["pid"])
"""


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    ray = pytest.importorskip("ray")
    ray.init(
        num_cpus=2,
        resources={"eval_gpu": 2},
        include_dashboard=False,
        runtime_env={"env_vars": {"PYTHONPATH": PATHS, "CUDA_VISIBLE_DEVICES": "5,7"}},
        log_to_driver=False,
    )
    yield ray
    ray.shutdown()


@pytest.fixture(scope="module")
def pool(cluster: Any) -> Iterator[Any]:  # noqa: ANN401
    from cuda_agent.workers.ray_pool import PoolSize, start_ray_pool

    size = PoolSize(devices=2, host_workers=1, device_resource="eval_gpu", per_device=3)
    with start_ray_pool("toys", SERVED, size=size) as pool:
        yield pool


def make_item(name: str, *, do: str = "echo", **payload: Any) -> WorkItem:  # noqa: ANN401
    steps = (
        Step(tier=Tier.HOST, method="first", limit_s=60.0),
        Step(tier=Tier.DEVICE, method="work", limit_s=60.0),
    )
    return WorkItem(item_id=name, payload={"do": do, **payload}, steps=steps)


def test_another_program_finds_it_and_shares_its_workers(pool: Any) -> None:  # noqa: ANN401
    ours = [make_item(str(number), say=f"{number}!", seconds=1.0) for number in range(24)]
    ended = list(pool.run(ours))
    assert [outcome.reason for outcome in ended] == [""] * 24
    outcomes = {outcome.item_id: outcome.value for outcome in ended}
    assert {name: value["echo"] for name, value in outcomes.items()} == {str(n): f"{n}!" for n in range(24)}
    assert {value["visible"] for value in outcomes.values()} == {"5", "7"}
    assert len({value["pid"] for value in outcomes.values()}) == 6  # three share each of the node's two
    env = {**os.environ, "PYTHONPATH": PATHS}
    done = subprocess.run(
        [sys.executable, "-c", OTHER_PROGRAM], env=env, capture_output=True, text=True, check=False
    )
    told, _, pid = done.stdout.strip().rpartition(" ")
    assert told == "from another program", done.stderr[-2000:]
    assert int(pid) in {value["pid"] for value in outcomes.values()}


def test_threads_of_a_trainer_use_it_at_once(pool: Any) -> None:  # noqa: ANN401
    seen: list[str] = []

    def ask(number: int) -> None:
        (outcome,) = pool.run([make_item("same name", say=str(number), seconds=0.1)])
        seen.append(outcome.value["echo"])

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(seen) == [str(number) for number in range(6)]


def test_the_guilty_end_and_the_innocent_go_on(pool: Any) -> None:  # noqa: ANN401
    items = [make_item("guilty", do="segfault"), *(make_item(str(number), say="well") for number in range(3))]
    outcomes = {outcome.item_id: outcome.status for outcome in pool.run(items)}
    assert outcomes.pop("guilty") is OutcomeStatus.CRASHED
    assert set(outcomes.values()) == {OutcomeStatus.DONE}


def test_it_comes_back_after_a_crash_and_loses_nothing(pool: Any, cluster: Any) -> None:  # noqa: ANN401
    outcomes: list[Any] = []
    items = [make_item(str(number), say="well", seconds=1.0) for number in range(6)]
    asking = threading.Thread(target=lambda: outcomes.extend(pool.run(items)))
    asking.start()
    while not outcomes:
        asking.join(timeout=0.1)
    cluster.kill(cluster.get_actor("toys", namespace="cuda-agent"), no_restart=False)
    asking.join()
    assert sorted(outcome.item_id for outcome in outcomes) == [str(number) for number in range(6)]
    assert {outcome.status for outcome in outcomes} == {OutcomeStatus.DONE}


def test_wrong_use_is_told(pool: Any) -> None:  # noqa: ANN401
    from cuda_agent.workers.ray_pool import PoolSize, RayPool, start_ray_pool

    with pytest.raises(UserError, match="no pool named other; start one: cuda-agent train pool other"):
        RayPool("other")
    with (
        pytest.raises(UserError, match="has 2 eval_gpu and the pool wants 3"),
        start_ray_pool("large", SERVED, size=PoolSize(devices=3, host_workers=1, device_resource="eval_gpu")),
    ):
        pass
    with (
        pytest.raises(UserError, match="a pool named toys already"),
        start_ray_pool("toys", SERVED, size=PoolSize(devices=1, host_workers=1, device_resource="CPU")),
    ):
        pass

"""One pool of a Ray cluster, by name: any number of its programs let it work, and share its workers fairly.

The pool is an actor that supervises `plan_ray_workers`; like them it needs the extra `ray`.
"""

import asyncio
import itertools
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import ray
from ray.exceptions import RayError

from cuda_agent.config import Record
from cuda_agent.errors import InfrastructureError, UserError
from cuda_agent.workers.item import Outcome, WorkItem
from cuda_agent.workers.ray_workers import plan_ray_workers
from cuda_agent.workers.worker_pool import WorkerPool

NAMESPACE = "cuda-agent"
MOST_OPEN = 100_000
"""How many items may be open in one pool; each takes little more than its own text."""
START_S = 120.0


class PoolSize(Record):
    """What a pool holds of a cluster."""

    devices: int
    """Devices that it holds."""
    host_workers: int
    """Workers that build, with one core each."""
    device_resource: str = "GPU"
    """What a device counts as: GPU, or a custom resource."""
    per_device: int = 1
    """Workers for each device; they judge side by side, and take times one at a time."""


class _Supervisor:
    """The actor: it hands items to workers, and never runs any itself."""

    def __init__(self, served: str, size: PoolSize) -> None:
        self._pool = WorkerPool(
            plan_ray_workers(
                served,
                devices=size.devices,
                host_workers=size.host_workers,
                device_resource=size.device_resource,
                per_device=size.per_device,
            )
        )

    async def do(self, item: WorkItem) -> Outcome:
        loop = asyncio.get_running_loop()
        ended: asyncio.Future[Outcome] = loop.create_future()

        def tell(outcome: Outcome) -> None:
            loop.call_soon_threadsafe(ended.set_result, outcome)

        self._pool.submit(item, tell)
        return await ended

    async def list_causes(self) -> tuple[str, ...]:
        return self._pool.causes

    async def close(self) -> None:
        await asyncio.to_thread(self._pool.close)


class RayPool:
    """A `Pool` that a program of the same cluster started."""

    def __init__(self, name: str, *, ahead: int = 256) -> None:
        """Find the pool, and join this machine's cluster first where that was not done.

        `ahead` is how many items of one `run` are open at a time.

        Raises:
            UserError: there is no cluster, or no such pool in it.
        """
        join_cluster()
        try:
            self._actor: Any = ray.get_actor(name, namespace=NAMESPACE)
        except ValueError as error:
            raise UserError(
                f"this Ray cluster has no pool named {name}; start one: cuda-agent train pool {name}"
            ) from error
        self._name = name
        self._ahead = ahead

    @property
    def causes(self) -> tuple[str, ...]:
        """Why workers were left out, the first first."""
        causes: tuple[str, ...] = self._get(self._actor.list_causes.remote())
        return causes

    def run(self, items: Iterable[WorkItem]) -> Iterator[Outcome]:
        """Do all items; their outcomes come as they end. Items are taken in as they are needed.

        Raises:
            InfrastructureError: the pool has ended.
        """
        waiting, running = iter(items), list[Any]()
        while True:
            taken = itertools.islice(waiting, self._ahead - len(running))
            running += [self._actor.do.remote(item) for item in taken]
            if not running:
                return
            (ended,), running = ray.wait(running)
            outcome: Outcome = self._get(ended)
            yield outcome

    def _get(self, promise: Any) -> Any:  # noqa: ANN401
        try:
            return ray.get(promise)
        except RayError as error:
            raise InfrastructureError(f"the pool {self._name} does not answer: {error}") from error


@contextmanager
def start_ray_pool(name: str, served: str, *, size: PoolSize) -> Iterator[RayPool]:
    """A pool that serves `served` (`module:Class`) under `name`, until the context is left.

    It comes back after a crash, and what was open in it is done again.

    Raises:
        UserError: the cluster has too little, or another pool of that name.
    """
    join_cluster()
    there = ray.cluster_resources()
    for resource, wanted in ((size.device_resource, size.devices), ("CPU", size.host_workers)):
        if there.get(resource, 0.0) < wanted:
            raise UserError(
                f"the cluster has {there.get(resource, 0.0):g} {resource} and the pool wants {wanted}: add "
                "nodes (ray start --address HEAD:6379 --resources ...), or ask for fewer"
            )
    options = {"name": name, "namespace": NAMESPACE, "num_cpus": 0, "max_concurrency": MOST_OPEN}
    restarts = {"max_restarts": -1, "max_task_retries": -1}
    try:
        actor: Any = ray.remote(_Supervisor).options(**options, **restarts).remote(served, size)
    except ValueError as error:
        raise UserError(f"this cluster has a pool named {name} already; give another name") from error
    try:
        ray.get(actor.list_causes.remote(), timeout=START_S)
        yield RayPool(name)
    finally:
        ray.get(actor.close.remote())
        ray.kill(actor)


def join_cluster() -> None:
    """Connect this program to the cluster that its machine belongs to, unless it is connected.

    Raises:
        UserError: this machine belongs to none.
    """
    if ray.is_initialized():
        return
    try:
        ray.init(address="auto", namespace=NAMESPACE, log_to_driver=False)
    except ConnectionError as error:
        raise UserError(
            "no Ray cluster here; start one with `ray start --head`, or join one (docs/scale.md)"
        ) from error

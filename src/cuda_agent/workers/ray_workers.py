"""Workers on a Ray cluster; this and ray_pool.py alone know Ray (extra `ray`).

Each worker is an actor that serves the object. One of the device tier holds a whole GPU, or one unit of a
custom resource: in a cluster that also trains, give its evaluation nodes `--resources '{"eval_gpu": 8}'`
and name that resource, so that training never lands on a device that is being timed.
"""

import functools
import importlib
import os
from collections.abc import Mapping, Sequence
from typing import Any

import ray
from ray.exceptions import GetTimeoutError, RayActorError, RayError, RayTaskError

from cuda_agent.workers.devices import claim_device, list_gpus
from cuda_agent.workers.item import Answer, Tier
from cuda_agent.workers.worker import (
    WorkerDiedError,
    WorkerFailedError,
    WorkerMaker,
    WorkerSilentError,
)


class _Served:
    """The actor: the served object, and nothing that needs this package's types on the way."""

    def __init__(self, served: str, resources: Mapping[str, float]) -> None:
        choose_visible_gpus(resources)
        module, _, name = served.partition(":")
        self._served = getattr(importlib.import_module(module), name)()

    def call(self, method: str, payload: Mapping[str, Any]) -> str:
        return str(getattr(self._served, method)(payload).model_dump_json())


def choose_visible_gpus(resources: Mapping[str, float]) -> None:
    """Let this process see the GPUs that it holds: one's own for a custom resource, none for cores alone.

    Ray itself tells only those processes which GPU is theirs that hold a unit of its resource GPU.
    """
    if "GPU" in resources:
        return
    shares = [share for resource, share in resources.items() if resource != "CPU"]
    gpus = list_gpus() if shares else ()
    visible = claim_device(gpus, per_device=round(1 / shares[0])) if gpus else ""
    os.environ["CUDA_VISIBLE_DEVICES"] = visible


class RayWorker:
    """An actor of the cluster that we are connected to."""

    def __init__(self, served: str, *, name: str, resources: Mapping[str, float]) -> None:
        """Ask for an actor that serves `served` (`module:Class`) and holds `resources`."""
        self.name = name
        options = {
            "num_cpus": resources.get("CPU", 0.0),
            "num_gpus": resources.get("GPU", 0.0),
            "resources": {key: value for key, value in resources.items() if key not in ("CPU", "GPU")},
        }
        self._actor: Any = ray.remote(_Served).options(**options).remote(served, dict(resources))

    def call(self, method: str, payload: Mapping[str, Any], *, limit_s: float) -> Answer:
        """See `Worker.call`."""
        try:
            return Answer.model_validate_json(
                ray.get(self._actor.call.remote(method, payload), timeout=limit_s)
            )
        except GetTimeoutError:
            self.close()
            raise WorkerSilentError(f"no answer within {limit_s:g} s") from None
        except RayTaskError as error:
            raise WorkerFailedError(f"{type(error.cause).__name__}: {error.cause}") from error
        except RayActorError as error:
            raise WorkerDiedError(f"worker {self.name} ended ({error})") from error
        except RayError as error:
            raise WorkerDiedError(f"worker {self.name}: {error}") from error

    def close(self) -> None:
        """See `Worker.close`."""
        ray.kill(self._actor)


def plan_ray_workers(
    served: str, *, devices: int, host_workers: int, device_resource: str = "GPU", per_device: int = 1
) -> Mapping[Tier, Sequence[WorkerMaker]]:
    """Makers of workers on the cluster that `ray.init` connected us to.

    Args:
        served: what they serve (`module:Class`).
        devices: how many devices to hold.
        host_workers: how many to build with, one core each.
        device_resource: what a device counts as: GPU, or a custom resource.
        per_device: workers for each; they judge side by side, and take times one at a time.
    """

    def plan(name: str, resources: Mapping[str, float]) -> WorkerMaker:
        return functools.partial(RayWorker, served, name=name, resources=resources)

    return {
        Tier.HOST: [plan(f"ray-host-{number}", {"CPU": 1.0}) for number in range(host_workers)],
        Tier.DEVICE: [
            plan(f"ray-device-{number}", {device_resource: 1 / per_device})
            for number in range(devices * per_device)
        ],
    }

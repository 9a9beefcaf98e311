"""Which of this machine's processes evaluate for a verb that has many submissions."""

from collections.abc import Mapping, Sequence

from pydantic import PositiveInt

from cuda_agent.config import Config
from cuda_agent.environment.evaluator import SERVED
from cuda_agent.errors import ConfigError
from cuda_agent.tasks.target import Target
from cuda_agent.workers.devices import list_gpus, plan_local_workers
from cuda_agent.workers.item import Tier
from cuda_agent.workers.worker import WorkerMaker

Workers = Mapping[Tier, Sequence[WorkerMaker]]


class PoolOptions(Config):
    """How many processes evaluate many submissions."""

    host_workers: PositiveInt | None = None
    """Processes that build; without it one for each core that no judge needs."""
    per_device: PositiveInt = 1
    """Judges for each GPU; two or three do more, for tasks that leave memory for as many."""


def plan_workers(target: Target, options: PoolOptions | None = None) -> Workers:
    """Makers of this machine's workers for a target, by tier.

    Raises:
        ConfigError: the target is cuda, and no GPU may be used.
    """
    options = options or PoolOptions()
    gpus = list_gpus() if target is Target.CUDA else ()
    if target is Target.CUDA and not gpus:
        raise ConfigError(
            "no GPU may be used: nvidia-smi -L lists none, or CUDA_VISIBLE_DEVICES is empty; "
            "name those to be used in CUDA_VISIBLE_DEVICES, or use --target cpu"
        )
    return plan_local_workers(
        SERVED, devices=gpus, host_workers=options.host_workers, per_device=options.per_device
    )

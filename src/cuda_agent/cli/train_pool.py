"""`cuda-agent train pool`: evaluate for all programs of a Ray cluster, under a name."""

import threading

import tyro
from pydantic import PositiveInt

from cuda_agent.cli.exit_code import ExitCode
from cuda_agent.config import Config
from cuda_agent.environment.evaluator import SERVED
from cuda_agent.errors import ConfigError


class PoolOptions(Config):
    """Evaluate for all trainers of a Ray cluster, until interrupted; they find the pool by its name."""

    name: tyro.conf.Positional[str] = "judges"
    """What trainers call it: `--pool ray:judges`."""
    devices: PositiveInt = 1
    """Devices to hold."""
    per_device: PositiveInt = 1
    """Submissions that are judged side by side on each; times are taken one at a time."""
    host_workers: PositiveInt = 1
    """Workers that build, with one core each."""
    device_resource: str = "eval_gpu"
    """What a device counts as in the cluster: a resource that evaluation nodes announce, GPU, or CPU."""


def serve_pool(options: PoolOptions) -> int:
    """Hold the pool until interrupted.

    Raises:
        ConfigError: ray is not installed.
        UserError: there is no cluster here, or it has too little.
    """
    try:
        from cuda_agent.workers.ray_pool import PoolSize, start_ray_pool
    except ModuleNotFoundError as error:
        raise ConfigError("ray is not installed: pip install 'cuda-agent[ray]'") from error
    size = PoolSize(
        devices=options.devices,
        host_workers=options.host_workers,
        device_resource=options.device_resource,
        per_device=options.per_device,
    )
    with start_ray_pool(options.name, SERVED, size=size):
        print(f"evaluating as ray:{options.name} with {size.devices} devices; Ctrl-C ends it", flush=True)
        threading.Event().wait()
    return ExitCode.DONE

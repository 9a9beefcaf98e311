"""The workers of this machine: some for the host's cores, one for each device."""

import functools
import os
import subprocess
from collections.abc import Mapping, Sequence

from cuda_agent.workers.cores import count_cores
from cuda_agent.workers.item import Tier
from cuda_agent.workers.local import LocalWorker
from cuda_agent.workers.worker import WorkerMaker

MAX_HOST_WORKERS = 16
CORES_OF_A_JUDGE = 3
"""For the judge and its two processes, and for those that start meanwhile."""


def plan_local_workers(
    served: str, *, devices: Sequence[str], host_workers: int | None = None, per_device: int = 1
) -> Mapping[Tier, Sequence[WorkerMaker]]:
    """Makers of local workers that serve `served` (`module:Class`).

    Args:
        served: what they serve.
        devices: GPUs as CUDA_VISIBLE_DEVICES names them; empty: one worker for the cpu.
        host_workers: how many for the host's cores; by default one for each core, but for those that
            the devices' workers need, and at least one.
        per_device: workers for each GPU; they judge side by side, and take times one at a time.
    """
    cores = count_cores()
    taken = CORES_OF_A_JUDGE * per_device * len(devices) or 1
    hosts = host_workers or max(1, min(MAX_HOST_WORKERS, cores - taken))
    return {
        Tier.HOST: [_plan(served, name=f"host-{number}", visible="") for number in range(hosts)],
        Tier.DEVICE: [
            _plan(served, name=f"gpu-{device}.{number}", visible=device)
            for number in range(per_device)
            for device in devices
        ]
        or [_plan(served, name="cpu", visible="")],
    }


def list_gpus() -> tuple[str, ...]:
    """This machine's NVIDIA GPUs, as CUDA_VISIBLE_DEVICES names those that we may use."""
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    if visible is not None:
        return tuple(filter(None, visible.split(",")))
    try:
        listed = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True, check=True, timeout=30)
    except (OSError, subprocess.SubprocessError):
        return ()
    return tuple(
        str(number) for number, line in enumerate(listed.stdout.splitlines()) if line.startswith("GPU")
    )


def _plan(served: str, *, name: str, visible: str) -> WorkerMaker:
    return functools.partial(LocalWorker, served, name=name, env={"CUDA_VISIBLE_DEVICES": visible})

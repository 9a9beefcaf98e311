"""verl takes processors as its platform when it is told to."""

import os
import subprocess
import sys

import pytest

from cuda_agent.rl.verl_adapter.platform_cpu_environment import CPU_ENVIRONMENT


@pytest.mark.verl
def test_verl_works_on_processors() -> None:
    program = (
        "from verl.utils.device import get_device_name, get_nccl_backend, get_torch_device; "
        "device = get_torch_device(); "
        "device.empty_cache(); "
        "print(get_device_name(), get_nccl_backend(), device.memory_reserved(), device.get_device_name())"
    )
    env = {**os.environ, **CPU_ENVIRONMENT}
    done = subprocess.run(
        [sys.executable, "-c", program], env=env, capture_output=True, text=True, check=False
    )
    assert done.stdout.split()[-4:] == ["cpu", "gloo", "0", "CPU"], done.stderr

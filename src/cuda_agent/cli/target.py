"""Which target this machine is for."""

from pathlib import Path

from cuda_agent.environment.toolchain import find_cxx, find_nvcc
from cuda_agent.errors import ConfigError, ToolchainError
from cuda_agent.tasks.target import Target

NVIDIA_DEVICES = (Path("/dev/nvidiactl"), Path("/dev/dxg"))
"""One is there wherever the NVIDIA driver can be used; looking costs nothing, asking torch costs seconds."""


def choose_target(wished: Target | None) -> Target:
    """The wished target; without a wish cuda where a GPU and nvcc are, else cpu.

    Raises:
        ConfigError: cuda is wished, and there is no GPU.
        ToolchainError: the target's compiler is missing.
    """
    has_gpu = any(device.exists() for device in NVIDIA_DEVICES)
    if wished is Target.CUDA and not has_gpu:
        raise ConfigError(
            "target cuda needs an NVIDIA GPU with its driver, and there is none; use --target cpu"
        )
    target = wished or (Target.CUDA if has_gpu and _has_nvcc() else Target.CPU)
    find_cxx()
    if target is Target.CUDA:
        find_nvcc()
    return target


def _has_nvcc() -> bool:
    try:
        find_nvcc()
    except ToolchainError:
        return False
    return True

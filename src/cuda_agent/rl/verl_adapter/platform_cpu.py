"""verl on processors alone: a platform of its public registry, for trying stages out without a GPU.

Used with the variables of `platform_cpu_environment.py`.
"""

import contextlib
import types
from typing import Any

import torch
from verl.plugin.platform.platform_base import PlatformBase
from verl.plugin.platform.platform_manager import PlatformRegistry


class _Processors(types.ModuleType):
    """What verl asks of `torch.cuda`, where there is no device to ask."""

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401
        if hasattr(torch.cpu, name):
            return getattr(torch.cpu, name)
        if name in ("get_rng_state", "set_rng_state"):
            return getattr(torch, name)
        if name.startswith(("max_memory", "memory")):
            return lambda *_args, **_options: 0
        if name in ("empty_cache", "ipc_collect", "reset_peak_memory_stats"):
            return lambda *_args, **_options: None
        if name == "get_device_name":
            return lambda *_args: "CPU"
        if name == "mem_get_info":
            return lambda *_args: (0, 0)
        raise AttributeError(f"processors have no {name}")


@PlatformRegistry.register(platform="cpu")
class PlatformCPU(PlatformBase):  # type: ignore[misc] # verl has no types
    """Processors: one device, gloo between processes, nothing to profile."""

    def __init__(self) -> None:
        self._module = _Processors("torch.cpu")

    @property
    def device_name(self) -> str:
        """The word of torch for it."""
        return "cpu"

    @property
    def vendor_name(self) -> str:
        """No vendor has an engine of its own for it."""
        return "cpu"

    @property
    def device_module(self) -> types.ModuleType:
        """Answers what verl asks of a device's module."""
        return self._module

    def is_available(self) -> bool:
        """Always there."""
        return True

    def is_platform_available(self, use_smi_check: bool = False) -> bool:
        """Never found by itself: it is wished for, by VERL_PLATFORM."""
        return False

    def current_device(self) -> str:
        """Its name: to torch, a number would be an accelerator."""
        return "cpu"

    def device_count(self) -> int:
        """One."""
        return 1

    def set_device(self, device_index: int) -> None:
        """There is nothing to choose."""

    def synchronize(self, device_index: int | None = None) -> None:
        """Processors are never behind."""

    def manual_seed(self, seed: int) -> None:
        """Seed torch."""
        torch.manual_seed(seed)

    def manual_seed_all(self, seed: int) -> None:
        """Seed torch, which has one generator here."""
        torch.manual_seed(seed)

    def set_allocator_settings(self, settings: str) -> None:
        """There is no caching allocator."""

    def empty_cache(self) -> None:
        """There is no cache to empty."""

    def get_device_capability(self, device_index: int = 0) -> tuple[int | None, int | None]:
        """None that CUDA would know."""
        return None, None

    def communication_backend_name(self) -> str:
        """Gloo, which comes with torch."""
        return "gloo"

    def visible_devices_envvar(self) -> str:
        """A variable that nobody else reads."""
        return "CPU_VISIBLE_DEVICES"

    def nvtx_range(self, msg: str) -> contextlib.AbstractContextManager[None]:
        """Nothing is marked."""
        return contextlib.nullcontext()

    def profiler_start(self) -> None:
        """There is no device to profile."""

    def profiler_stop(self) -> None:
        """There is no device to profile."""

    def ray_resource_name(self) -> str:
        """The word of Ray for it."""
        return "CPU"

    def ray_noset_envvars(self) -> list[str]:
        """Ray sets none."""
        return []

    def is_ipc_supported(self) -> bool:
        """Tensors are not shared between processes."""
        return False

    def cudart(self) -> None:
        """There is no CUDA runtime."""

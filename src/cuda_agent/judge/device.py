"""What the two targets do differently inside a child process: placing, waiting, flushing, timing."""

import os
import time
from collections.abc import Callable
from functools import cached_property
from typing import Protocol

import torch
from torch.utils._python_dispatch import _disable_current_modes

from cuda_agent.errors import InfrastructureError
from cuda_agent.judge.policy import Precision
from cuda_agent.tasks.target import Target

_CPU_FLUSH_BYTES = 64 << 20
_CUDA_FLUSH_BYTES = 1 << 30
"""Many times the L2: the flush also runs for about half a millisecond, behind which launch latency hides."""
_HIDDEN_MS = 0.02
"""A device-wide wait with nothing left to wait for takes less than this."""


class Device(Protocol):
    """One target's device, as a child process uses it."""

    name: str
    """The device's name, with its core or multiprocessor count."""
    torch_device: torch.device
    """Where tensors live."""

    def synchronize(self) -> None:
        """Wait until all work on the device is done."""
        ...

    def wake(self) -> None:
        """Do a little work and wait for it: what follows finds the device switched to this process."""
        ...

    def time_call(self, call: Callable[[], object]) -> tuple[object, float]:
        """Flush the caches, then run `call` alone on the device: its result and time in milliseconds."""
        ...


class CpuDevice:
    """The host's cores."""

    def __init__(self, threads: int) -> None:
        """Use that many threads."""
        torch.set_num_threads(threads)
        self.name = describe_device(Target.CPU, threads=threads)
        self.torch_device = torch.device("cpu")
        self._flush_buffer = torch.zeros(_CPU_FLUSH_BYTES, dtype=torch.uint8)

    def synchronize(self) -> None:
        """Nothing runs behind our back."""

    def wake(self) -> None:
        """Write the flush buffer a few times, with all threads."""
        for _ in range(3):
            self._flush_buffer.add_(1)

    def time_call(self, call: Callable[[], object]) -> tuple[object, float]:
        """Wall-clock time, after writing a buffer larger than the last-level cache."""
        with _disable_current_modes():  # a guard is for the call
            self._flush_buffer.add_(1)
        start_ns = time.perf_counter_ns()
        result = call()
        return result, (time.perf_counter_ns() - start_ns) / 1e6


class CudaDevice:
    """One NVIDIA GPU."""

    def __init__(self) -> None:
        """Create the context and pay for the first kernel."""
        self.name = describe_device(Target.CUDA)
        self.torch_device = torch.device("cuda", 0)
        torch.zeros(1, device=self.torch_device).add_(1)
        torch.cuda.synchronize()

    @cached_property
    def _flush_buffer(self) -> torch.Tensor:
        """Made when it is first needed: a process that waits for a submission holds little memory."""
        return torch.zeros(_CUDA_FLUSH_BYTES // 4, dtype=torch.int32, device=self.torch_device)

    def synchronize(self) -> None:
        """Wait for every stream of the device."""
        torch.cuda.synchronize()

    def wake(self) -> None:
        """Write the flush buffer once."""
        self._flush_buffer.add_(1)
        torch.cuda.synchronize()

    def time_call(self, call: Callable[[], object]) -> tuple[object, float]:
        """Time between two events, and whatever outlasts them on other streams.

        The flush before the call is still running when the call is launched, so that launch latency
        hides behind it, as it does in a busy program. It writes and then reads, for what it leaves in
        the cache unwritten the call would have to write back.
        """
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        torch.cuda.synchronize()
        with _disable_current_modes():  # a guard is for the call
            self._flush_buffer.add_(1)
            self._flush_buffer.amax()
        start.record()
        result = call()
        end.record()
        end.synchronize()
        waited_ns = time.perf_counter_ns()
        torch.cuda.synchronize()
        hidden_ms = (time.perf_counter_ns() - waited_ns) / 1e6
        span_ms = start.elapsed_time(end)
        return result, span_ms + (hidden_ms if hidden_ms > _HIDDEN_MS else 0.0)


def open_device(target: Target, *, precision: Precision, threads: int) -> Device:
    """Set the process up for a target."""
    if precision is Precision.HIGHEST:
        torch.set_float32_matmul_precision("highest")
        torch.backends.cudnn.allow_tf32 = False
    elif precision is Precision.TF32:
        torch.set_float32_matmul_precision("high")
        torch.backends.cudnn.allow_tf32 = True
    return CpuDevice(threads) if target is Target.CPU else CudaDevice()


def measure_copy_bandwidth(device: Device) -> float:
    """Copy bandwidth in GB/s, bytes read plus bytes written; the best of several tries."""
    nbytes = 64 << 20 if device.torch_device.type == "cpu" else 512 << 20
    source = torch.ones(nbytes // 4, dtype=torch.int32, device=device.torch_device)
    sink = torch.zeros_like(source)
    best_ms = min(device.time_call(lambda: sink.copy_(source))[1] for _ in range(5))
    return 2 * nbytes / best_ms / 1e6


def measure_product(size: int = 1024) -> float:
    """Milliseconds of a known matrix product on this process's device (its GPU, if it sees one).

    Raises:
        InfrastructureError: the device fails, or the product is wrong.
    """
    device = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        a = (torch.arange(size * size, device=device) % 7).view(size, size).float()
        wanted = (a[:8].cpu().double() @ a.cpu().double()).float()
        (a @ a).sum().item()
        start_ns = time.perf_counter_ns()
        product = a @ a
        got = product[:8].cpu()
    except RuntimeError as error:
        raise InfrastructureError(f"{device} cannot compute a matrix product: {error}") from error
    if not torch.equal(got, wanted):
        raise InfrastructureError(f"{device} computes a matrix product wrongly")
    return (time.perf_counter_ns() - start_ns) / 1e6


def describe_device(target: Target, *, threads: int = 0) -> str:
    """The device's name, with its threads or multiprocessors."""
    if target is Target.CPU:
        return f"{_read_cpu_name()}, {threads} threads"
    properties = torch.cuda.get_device_properties(0)
    return f"{properties.name}, {properties.multi_processor_count} multiprocessors"


def collect_versions(target: Target) -> dict[str, str]:
    """Versions of what the times depend on."""
    versions = {"torch": str(torch.__version__)}
    if target is Target.CUDA:
        versions["cuda"] = str(torch.version.cuda)
        versions["driver"] = _read_driver_version()
    return versions


def _read_cpu_name() -> str:
    with open("/proc/cpuinfo", encoding="utf-8") as lines:
        for line in lines:
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return os.uname().machine


def _read_driver_version() -> str:
    try:
        with open("/proc/driver/nvidia/version", encoding="utf-8") as lines:
            return lines.readline().strip()
    except OSError:
        return "unknown"

"""A call is timed alone, after a flush, in the precision that both sides declare."""

import time
from collections.abc import Iterator

import pytest
import torch

from cuda_agent.judge.device import CpuDevice, open_device
from cuda_agent.judge.policy import Precision
from cuda_agent.tasks.target import Target


@pytest.fixture(autouse=True)
def _settings() -> Iterator[None]:
    """Opening a device sets the whole process up; other tests find it as it was."""
    before = torch.get_float32_matmul_precision(), torch.backends.cudnn.allow_tf32, torch.get_num_threads()
    yield
    torch.set_float32_matmul_precision(before[0])
    torch.backends.cudnn.allow_tf32 = before[1]
    torch.set_num_threads(before[2])


def test_each_timed_call_finds_the_caches_just_flushed() -> None:
    device = CpuDevice(threads=1)
    seen = [device.time_call(lambda: int(device._flush_buffer[0]))[0] for _ in range(3)]
    assert seen == [1, 2, 3]
    assert bool((device._flush_buffer == 3).all())


@pytest.mark.timing
def test_the_flush_is_not_part_of_the_time() -> None:
    device = CpuDevice(threads=1)
    nothing_ms = min(device.time_call(lambda: None)[1] for _ in range(5))
    _, sleep_ms = device.time_call(lambda: time.sleep(0.05))
    assert nothing_ms < 1.0
    assert sleep_ms >= 50.0


@pytest.mark.parametrize(
    ("precision", "matmul", "cudnn"), [(Precision.HIGHEST, "highest", False), (Precision.TF32, "high", True)]
)
def test_a_declared_precision_holds_for_products_and_convolutions(
    precision: Precision, matmul: str, cudnn: bool
) -> None:
    open_device(Target.CPU, precision=precision, threads=1)
    assert torch.get_float32_matmul_precision() == matmul
    assert torch.backends.cudnn.allow_tf32 is cudnn

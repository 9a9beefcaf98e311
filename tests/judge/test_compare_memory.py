"""Comparing needs little memory beside the outputs themselves, however large, right or wrong they are."""

from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from cuda_agent.judge.compare import Wanted, compare_tensor
from cuda_agent.judge.policy import load_policy
from cuda_agent.judge.result import VerifyStatus

ELEMENTS = 1 << 24


def measure_peak_bytes(work: Callable[[], object]) -> int:
    """How much more memory this process held at any time of `work` than before."""
    Path("/proc/self/clear_refs").write_text("5")  # the peak is forgotten
    before = read_kib("VmRSS")
    work()
    return (read_kib("VmHWM") - before) << 10


def read_kib(name: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line.split()[1] for line in lines if line.startswith(name)))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int64, torch.bool])
@pytest.mark.parametrize("is_right", [True, False])
def test_a_quarter_of_the_task_is_enough(dtype: torch.dtype, is_right: bool) -> None:
    torch.manual_seed(0)
    eager = (torch.rand(ELEMENTS) * 7).floor_().to(dtype)
    exact = eager.double() if dtype.is_floating_point else eager
    got = eager.clone() if is_right else eager.roll(1)
    task_bytes = sum(value.numel() * value.itemsize for value in (got, eager, exact))
    status = []

    def compare() -> None:
        found = compare_tensor(
            got, Wanted(exact, eager), policy=load_policy("strict"), path="out", reduction=1
        )
        status.append(found.status)

    compare()  # what is loaded the first time does not count
    assert measure_peak_bytes(compare) < task_bytes // 4
    assert status == [VerifyStatus.OK if is_right else VerifyStatus.MISMATCH] * 2

"""What a task needs is known before anything is allocated."""

import resource

import pytest

from cuda_agent.judge.footprint import estimate_bytes
from cuda_agent.judge.reference import import_source

SOURCE = """
import torch
class Model(torch.nn.Module):
    def __init__(self, n):
        super().__init__()
        self.linear = torch.nn.Linear(n, n)
    def forward(self, x):
        return self.linear(x), x.sum()
def get_inputs():
    return [torch.randn({rows}, {n})]
def get_init_inputs():
    return [{n}]
"""


def test_inputs_weights_and_outputs_are_counted() -> None:
    needed = estimate_bytes(import_source(SOURCE.format(rows=8, n=16)))
    assert needed == 4 * (8 * 16 + 16 * 16 + 16 + 8 * 16 + 1)


def test_a_huge_task_costs_nothing_to_estimate() -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    needed = estimate_bytes(import_source(SOURCE.format(rows=1 << 24, n=1 << 16)))
    assert needed > 1 << 42
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 1 << 20


def test_what_cannot_be_faked_is_unknown() -> None:
    source = SOURCE.format(rows=8, n=16).replace("return self.linear(x), x.sum()", "return x.numpy()")
    assert estimate_bytes(import_source(source)) == 0


@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_a_task_is_estimated_the_same_wherever_its_tensors_are_to_live(device: str) -> None:
    source = SOURCE.format(rows=1 << 20, n=1 << 12)
    placed = source.replace(f"{1 << 12})]", f"{1 << 12}, device={device!r}).cpu()]")
    assert placed != source
    assert estimate_bytes(import_source(placed)) == estimate_bytes(import_source(source)) > 1 << 34

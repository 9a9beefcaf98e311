"""Operators that need no crawl, and small programs with and without faults."""

from collections.abc import Iterator

import pytest

from cuda_agent.sandbox.protocol import Sandbox
from cuda_agent.synthesis.candidate import Candidate
from cuda_agent.synthesis.operator import Operator
from cuda_agent.synthesis.probe import Probe
from cuda_agent.synthesis.table import load_table
from cuda_agent.tasks.target import Target

GOOD = """\
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, features, width):
        super().__init__()
        self.linear = nn.Linear(features, width)

    def forward(self, x):
        x = self.linear(x)
        return torch.tanh(x)


features = 32
width = 24


def get_inputs():
    return [torch.randn(16, features)]


def get_init_inputs():
    return [features, width]
"""
RENAMED = '''\
"""The same, as somebody else would write it."""
import torch
from torch import nn


def get_init_inputs():
    return [n, 48]


def get_inputs():
    return [torch.randn(128, n)]


class Model(nn.Module):
    """Another text."""

    def __init__(self, wide: int, out: int) -> None:
        super().__init__()
        self.layer = nn.Linear(wide, out)

    def forward(self, value: torch.Tensor) -> torch.Tensor:
        value = self.layer(value)
        return torch.tanh(value)


n = 64
'''


@pytest.fixture(scope="session")
def operators() -> tuple[Operator, ...]:
    """Torch's operators that have an argument maker."""
    return load_table("torch").operators


def make_candidate(code: str = GOOD, *, number: int = 0, ops: tuple[str, ...] = ()) -> Candidate:
    """A candidate with that program."""
    ops = ops or ("torch.nn.Linear", "torch.tanh")
    return Candidate(number=number, seed=0, ops=ops, data_source=f"torch#{len(ops)}", code=code)


@pytest.fixture(scope="module")
def probe(sandbox: Sandbox) -> Iterator[Probe]:
    """A probe on the host's cores."""
    with Probe(sandbox=sandbox, target=Target.CPU) as probe:
        yield probe

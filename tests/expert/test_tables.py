import ast

import pytest

from cuda_agent.expert.constructor import SignatureError
from cuda_agent.expert.tables import carry_tables, find_bound

SOURCE = """
import math
import torch
from torch import nn
BASE = 10000.0
UNUSED = 3

def spread(n):
    return torch.arange(n) / math.sqrt(BASE)

class Model(nn.Module):
    def __init__(this, size):
        super().__init__()
        this.other = nn.Linear(size, size)
        steps = spread(size)
        for _ in range(2):
            steps = steps * 2
        this.register_buffer("cos", steps.cos(), persistent=False)
        this.sin = this.cos + steps
    def forward(this, x): return x
"""


def test_only_what_the_table_needs_is_carried_over() -> None:
    top, body = carry_tables(SOURCE, ["cos"])
    assert top == [
        "import math",
        "BASE = 10000.0",
        "def spread(n):\n    return torch.arange(n) / math.sqrt(BASE)",
    ]
    assert body == [
        "steps = spread(size)",
        "for _ in range(2):\n    steps = steps * 2",
        "self.register_buffer('cos', steps.cos(), persistent=False)",
    ]


def test_a_table_made_from_a_table_brings_it_along() -> None:
    _, body = carry_tables(SOURCE, ["sin"])
    assert body[-2:] == [
        "self.register_buffer('cos', steps.cos(), persistent=False)",
        "self.sin = self.cos + steps",
    ]


@pytest.mark.parametrize(("path", "match"), [("rope.cos", "nested module"), ("tan", "does not set self.tan")])
def test_what_cannot_be_carried_is_said(path: str, match: str) -> None:
    with pytest.raises(SignatureError, match=match):
        carry_tables(SOURCE, [path])


def test_registered_buffers_count_as_set() -> None:
    assert find_bound(ast.parse("self.register_buffer('a', x)")) == {"self.a"}
    assert find_bound(ast.parse("self.b, c = x")) == {"self.b", "c"}

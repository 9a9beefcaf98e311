"""Honest models pass, and computing outside kernels is named with its line, however it is written."""

import ast

import pytest

from cuda_agent.environment.rules_python import check_python

HONEST = '''\
"""Nothing in a comment or docstring counts: torch.matmul, eval, exec, x @ w, import os."""
from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Optional

try:
    from typing import Self
except (ImportError, ModuleNotFoundError):
    Self = object

import torch
from torch import Tensor, nn

import kernels as native

WIDTH = 4  # getattr(torch, "relu")


@dataclass
class Settings:
    eps: float = 1e-5


class Block(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(width) / math.sqrt(width))

    def forward(self, x: Tensor) -> Tensor:
        out = torch.empty_like(x)
        native.scale(x, self.weight, out)
        return out


class ModelNew(nn.Module):
    def __init__(self, width: int, bias: Optional[bool] = None) -> None:
        super().__init__()
        self.linear = nn.Linear(width, width)
        self.norm = nn.LayerNorm(width)
        self.block = Block(width)
        self.blocks = nn.ModuleList([Block(width) for _ in range(3)])
        self.register_buffer("table", self._make_table(width), persistent=False)
        nn.init.normal_(self.linear.weight, std=0.02)
        self.settings = Settings()
        self.packed: Tensor | None = None

    def _make_table(self, width: int) -> Tensor:
        steps = torch.arange(width).float()
        return torch.cos(steps @ torch.eye(width))

    def _pack(self) -> None:
        self.packed = self.linear.weight.detach().t().contiguous().to(torch.bfloat16)

    @torch.no_grad()
    def forward(self, x: Tensor, mask: Tensor | None = None) -> tuple[Tensor, ...]:
        if self.packed is None:
            self._pack()
        rows, width = x.shape[0], x.size(-1)
        flat = x.reshape(-1, width) if not x.is_contiguous() else x.view(-1, width)
        out = torch.empty((rows, width), dtype=x.dtype, device=x.device)
        choose = native.wide if width % 8 == 0 else native.any
        choose(flat, self.packed, self.linear.bias, out, self.norm.eps, 1.0 / math.sqrt(width))
        for i in range(len(self.blocks)):
            out = self.blocks[i](out)
        for block in self.blocks:
            out = block(out)
        for i, (first, second) in enumerate(zip(self.blocks, reversed(self.blocks[1:]))):
            out = first(second(out)) if i else out
        every = [each(out) for each in self.blocks]
        halves = out.split(width // 2, dim=-1)
        return self.block(out), *[half.transpose(0, 1) for half in halves]
'''

FRAME = """\
import torch
import torch.nn as nn
import kernels
class Helper:
    def exp(self): return 1
class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 3)
        self.chain = nn.Sequential(nn.Linear(3, 3))
        self.saved = torch.matmul
    def forward(self, x):
        {}
        return x
"""
LINE = 13

FORBIDDEN = [
    "x = torch.relu(x)",
    "x = torch.nn.functional.relu(x)",
    "x = torch.ops.aten.relu(x)",
    "x = torch._C._nn.gelu(x)",
    "x = torch.cuda.Stream()",
    "x = x @ x",
    "x @= x",
    "x = x.exp()",
    "x = x.matmul(x)",
    "f = x.exp; x = f()",
    "x = self.linear(x)",
    "x = self.chain[0](x)",
    "x = self.linear.forward(x)",
    "x = self.linear.__call__(x)",
    "x = self.saved(x, x)",
    "x = nn.Linear(3, 3)(x)",
    "x = nn.Linear.forward(self.linear, x)",
    "x = nn.Module.__call__(self.linear, x)",
    "x = torch.Tensor.matmul(x, x)",
    "x = super().forward(x)",
    "t = torch",
    "t = [torch]; x = t[0].relu(x)",
    "x = [torch.relu][0](x)",
    "x = (lambda a: a.exp())(x)",
    "f = lambda a: a + 1; x = f(x)",
    "x = max([x], key=Helper.exp)",
    "x = sum(map(torch.relu, [x]))",
    "x = getattr(torch, 'relu')(x)",
    "x = eval('torch.relu(x)')",
    "x = __import__('torch').relu(x)",
    "x = type(x)(x)",
    "x = open('/etc/passwd')",
    "x = globals()",
    "kernels = x; x = kernels.exp()",
    "for nn in [x]: pass",
    "Helper = x",
    "x.data = x",
    "torch.foo = x",
    "self.forward = self.linear.forward",
    "self.__class__ = Helper",
    "x = self._modules['linear'](x)",
    "x = x.__class__",
    "x = x.item()",
    "x = x.data_ptr()",
    "x = id(x)",
    "import os",
    "import torch.nn.functional as F",
    "from torch.nn import functional as F",
    "from torch import _C",
    "from model import Model",
    "from math import *",
    "from . import other",
    "x = abs(x)",
    "x = kernels.__dict__",
    "print(f'{x.exp()}')",
    "x = [y.exp() for y in x]",
    "assert x.exp()",
    "del x.data",
    "for layer in self.chain: x = layer(x)",
    "for layer in [self.linear]: x = layer(x)",
    "for own in self.owns.children(): x = own(x)",
    "self = x.real; self.own(x)",
    "f = lambda self: self.own(x)",
    "from torch import empty; from torch import matmul as empty",
]


def check(text: str) -> list[tuple[int, str]]:
    return [(found.line, found.rule) for found in check_python(ast.parse(text), "model_new.py")]


def test_an_honest_model_passes() -> None:
    assert check(HONEST) == []


@pytest.mark.parametrize("statement", FORBIDDEN)
def test_computing_or_reaching_out_is_found_in_its_line(statement: str) -> None:
    found = check(FRAME.format(statement))
    assert found
    assert {line for line, _ in found} == {LINE}


@pytest.mark.parametrize(
    "statement", ["x = x.view(-1)", "x = x.to(torch.float16)", "kernels.a(x, 1)", "pass"]
)
def test_the_frame_itself_is_clean(statement: str) -> None:
    assert check(FRAME.format(statement)) == []


@pytest.mark.parametrize(
    "text",
    [
        "import torch\nclass ModelNew(torch.nn.Linear):\n def forward(self, x): return x",
        "import torch\nclass ModelNew(torch.nn.Module, metaclass=type):\n def forward(self, x): return x",
        "import torch\nclass ModelNew(torch.nn.Module):\n forward = torch.nn.Linear.forward",
        "import torch\nclass ModelNew(torch.nn.Module):\n def __call__(self): 1\n def forward(self): 1",
        "import torch\nclass ModelNew(torch.nn.Module):\n async def forward(self, x): return x",
        "import torch\nclass ModelNew(torch.nn.Module): pass",
        "import torch\nModelNew = torch.nn.Identity",
        "import torch\nclass Model(torch.nn.Module):\n def forward(self, x): return x",
        "",
    ],
)
def test_the_model_is_a_class_of_the_file_with_a_forward_of_its_own(text: str) -> None:
    assert check(text)


def test_a_helper_used_by_forward_is_held_to_the_rules_of_forward() -> None:
    text = FRAME.format("x = helper(x)") + "def helper(x): return x.exp()\n"
    assert [rule for _, rule in check(text)] == ["method"]


def test_a_constructor_may_not_leave_a_hook() -> None:
    text = FRAME.format("pass").replace(
        "self.saved = torch.matmul", "self.linear.register_forward_hook(print)"
    )
    assert [rule for _, rule in check(text)] == ["method"]


LOOPS = """\
import torch
import torch.nn as nn
{before}
class Own(nn.Module):
    def forward(self, x): return x
class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 3)
        self.owns = nn.ModuleList([Own()])
        {prepare}
    def forward(self, x):
        for own in self.owns:
            {body}
        return x
"""


def check_loop(*, before: str = "", prepare: str = "pass", body: str = "x = own(x)") -> list[tuple[int, str]]:
    return check(LOOPS.format(before=before, prepare=prepare, body=body))


def test_a_loop_over_own_modules_may_call_them() -> None:
    assert check_loop() == []
    assert check_loop(prepare="self.owns.append(Own())") == []


@pytest.mark.parametrize(
    "prepare",
    [
        "self.owns = nn.ModuleList([Own(), nn.Linear(3, 3)])",
        "self.owns[0] = nn.Linear(3, 3)",
        "self.owns.append(nn.Linear(3, 3))",
        "self.owns.add_module('0', nn.Linear(3, 3))",
        "self.add_module('o' + 'wns', nn.Sequential(nn.Linear(3, 3)))",
        "other = self; other.owns = nn.Sequential(nn.Linear(3, 3))",
    ],
)
def test_a_container_that_may_hold_a_torch_layer_is_not_called(prepare: str) -> None:
    assert [rule for _, rule in check_loop(prepare=prepare)] == ["call"]


@pytest.mark.parametrize(
    ("before", "body"),
    [
        ("", "own = self.linear; x = own(x)"),
        ("", "x = [own(x) for own in [self.linear]][0]"),
        ("", "x = (lambda own: own(x))"),
        ("own = nn.Linear(3, 3)", "x = own(x)"),
        ("def other(a=(own := nn.Linear(3, 3))): return a", "x = own(x)"),
        ("", "x = [own(x) for own in enumerate(self.owns)][0]"),
    ],
)
def test_a_variable_that_may_stand_for_something_else_is_not_called(before: str, body: str) -> None:
    assert "call" in [rule for _, rule in check_loop(before=before, body=body)]


@pytest.mark.parametrize(
    ("caught", "substitute"),
    [
        ("ImportError", "torch.matmul"),
        ("ImportError", "nn.Linear(3, 3)"),
        ("ImportError", "getattr"),
        ("ValueError", "None"),
        ("(ImportError, ValueError)", "None"),
    ],
)
def test_the_substitute_of_an_import_computes_nothing(caught: str, substitute: str) -> None:
    text = f"try:\n    from math import absent\nexcept {caught}:\n    absent = {substitute}\n"
    assert check(text + FRAME.format("absent(x)"))
    assert check(text.replace(caught, "ImportError").replace(substitute, "None") + FRAME.format("x")) == []


@pytest.mark.parametrize("nested", ["zeros", "matmul"])
def test_a_name_is_imported_from_one_place_only(nested: str) -> None:
    text = FRAME.format("x = f(x, x)").replace("super().__init__()", f"from torch import {nested} as f")
    assert "rebinding" in [rule for _, rule in check("from torch import empty as f\n" + text)]


def test_a_method_inherited_or_inheriting_sees_what_the_other_sets() -> None:
    text = """\
import torch.nn as nn
class Own(nn.Module):
    def forward(self, x): return x
class Parent(nn.Module):
    def __init__(self): self.inner = {}
    def run(self, x): return self.inner(x)
class ModelNew(Parent):
    def __init__(self): self.inner = {}
    def forward(self, x): return self.inner(x)
"""
    assert check(text.format("Own()", "Own()")) == []
    assert {line for line, _ in check(text.format("Own()", "nn.ReLU()"))} == {6, 9}
    assert {line for line, _ in check(text.format("nn.ReLU()", "Own()"))} == {6, 9}

"""Names are resolved to what they stand for."""

import ast

import pytest

from cuda_agent.environment.python_names import FileNames, collect_names

SOURCE = """
import torch.nn
import torch.nn as layers
from torch import nn as n, empty
import kernels

class Own(n.Module):
    def __init__(self):
        self.a = 1

class ModelNew(n.Module):
    def __init__(self):
        self.own = Own()
        self.list = n.ModuleList([Own(), Own()])
        self.mixed = n.ModuleList([Own(), n.Linear(1, 1)])
        self.twice = Own()
        self.prepare()
    def prepare(self): self.deeper()
    def deeper(self): pass
    def forward(self, x):
        self.twice = n.ReLU()
        f = kernels.a if x else kernels.b
        g = kernels.a
        g = x
        self.shared()
    def shared(self): pass
"""


@pytest.fixture
def names() -> FileNames:
    return collect_names(ast.parse(SOURCE))


@pytest.mark.parametrize(
    ("expression", "path"),
    [
        ("torch.nn.Linear", "torch.nn.Linear"),
        ("layers.Linear", "torch.nn.Linear"),
        ("n.init.normal_", "torch.nn.init.normal_"),
        ("empty", "torch.empty"),
        ("self.own", None),
        ("f().x", None),
    ],
)
def test_aliases_are_seen_through(names: FileNames, expression: str, path: str | None) -> None:
    assert names.resolve(ast.parse(expression, mode="eval").body) == path


def test_only_modules_of_the_file_are_its_own(names: FileNames) -> None:
    held = {name for name in names.classes["ModelNew"].held if names.holds_own("ModelNew", name)}
    assert held == {"own", "list"}


def test_building_is_what_only_constructors_reach(names: FileNames) -> None:
    assert {function.name for function in names.building} == {"__init__", "prepare", "deeper"}


def test_a_choice_between_kernels_may_be_called(names: FileNames) -> None:
    assert names.choices == {"f"}

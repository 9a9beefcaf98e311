"""Only variables that every binding takes from a container of own modules stand for own modules."""

import ast

import pytest

from cuda_agent.environment.python_loops import find_own_items


def find(body: str, module: str = "") -> set[str]:
    tree = ast.parse(f"{module}\ndef forward(self, x):\n    {body}\n")
    function = tree.body[-1]
    assert isinstance(function, ast.FunctionDef)
    return find_own_items(function, tree, holds_own=lambda name: name == "blocks")


@pytest.mark.parametrize(
    ("body", "own"),
    [
        ("for a in self.blocks: pass", {"a"}),
        ("for a in self.blocks[1:]: pass", {"a"}),
        ("for i, a in enumerate(self.blocks, 1): pass", {"a"}),
        ("for a, b in zip(self.blocks, x): pass", {"a"}),
        ("for i, (a, b) in enumerate(zip(x, reversed(self.blocks))): pass", {"b"}),
        ("y = [a(x) for a in self.blocks]", {"a"}),
        ("for a in self.layers: pass", set()),
        ("for a in x.blocks: pass", set()),
        ("for a, b in self.blocks: pass", set()),
        ("for a, b in zip(*self.blocks, self.blocks): pass", set()),
        ("for a in map(x, self.blocks): pass", set()),
        ("for *a, b in zip(self.blocks, self.blocks): pass", {"b"}),
    ],
)
def test_loops(body: str, own: set[str]) -> None:
    assert find(body) == own


@pytest.mark.parametrize(
    "other",
    [
        "a = x",
        "(a := x)",
        "[a for a in x]",
        "lambda a: a",
        "del a",
        "import math as a",
        "global a",
        "\n    try: pass\n    except ValueError as a: pass",
        "\n    match x:\n        case {**a}: pass",
        "\n    match x:\n        case [*a]: pass",
        "\n    match x:\n        case a: pass",
        "\n    def a(): pass",
        "\n    class a: pass",
    ],
)
def test_another_binding_spoils_it(other: str) -> None:
    assert find(f"for a in self.blocks: pass\n    {other}") == set()


@pytest.mark.parametrize(
    "module",
    [
        "a = 1",
        "import a",
        "def a(): pass",
        "class A: b = (a := 1)\n[a := 1]",
        "def f(b=(a := 1)): pass",
        "def f():\n  global a",
    ],
)
def test_the_module_s_own_variable_spoils_it(module: str) -> None:
    assert find("y = [a(x) for a in self.blocks]", module) == set()


@pytest.mark.parametrize("module", ["def enumerate(x): pass", "from x import enumerate"])
def test_a_carrier_that_is_not_the_builtin_carries_nothing(module: str) -> None:
    assert find("for i, a in enumerate(self.blocks): pass", module) == set()
    assert find("enumerate = x\n    for i, a in enumerate(self.blocks): pass") == set()

"""An optional import has a harmless stand-in, and only there."""

import ast

import pytest

from cuda_agent.environment.python_substitutes import find_substitutes


def find(handler: str, attempt: str = "from typing import Self") -> list[tuple[str, int]]:
    tree = ast.parse(f"try:\n    {attempt}\n{handler}")
    return [(name.id, name.lineno) for name in find_substitutes(tree, ["Own"])]


@pytest.mark.parametrize("value", ["None", "False", "object", "Own", "'text'"])
def test_a_harmless_stand_in(value: str) -> None:
    assert find(f"except ImportError:\n    Self = {value}") == [("Self", 4)]
    assert find(f"except (ModuleNotFoundError, ImportError):\n    Self = {value}") == [("Self", 4)]
    assert find(f"except ImportError:\n    b = {value}", "import math as b") == [("b", 4)]


@pytest.mark.parametrize(
    "handler",
    [
        "except ImportError:\n    Self = torch.matmul",
        "except ImportError:\n    Self = Own()",
        "except ImportError:\n    Self = sum",
        "except ImportError:\n    other = None",
        "except ImportError:\n    for Self in x: pass",
        "except ValueError:\n    Self = None",
        "except (ImportError, OSError):\n    Self = None",
        "except:\n    Self = None",
        "except ImportError:\n    pass\nelse:\n    Self = None",
    ],
)
def test_anything_else_is_a_new_meaning(handler: str) -> None:
    assert find(handler) == []

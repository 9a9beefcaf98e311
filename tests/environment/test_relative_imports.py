"""Only imports of `kernels` change, and whatever else is on their lines stays."""

import pytest

from cuda_agent.environment.relative_imports import make_kernels_relative


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("import kernels\n", "from . import kernels\n"),
        ("import kernels as k", "from . import kernels as k"),
        ("import torch, kernels, math\n", "import torch; from . import kernels; import math\n"),
        ("from kernels import a, b as c\n", "from .kernels import a, b as c\n"),
        ("from kernels import (\n    a,\n    b,\n)\nx = 1\n", "from .kernels import a, b\nx = 1\n"),
        (
            "try: import kernels\nexcept ImportError: pass\n",
            "try: from . import kernels\nexcept ImportError: pass\n",
        ),
        ('s = "é"; import kernels  # é\n', 's = "é"; from . import kernels  # é\n'),
        (
            "def f():\n    import kernels\n    return 'import kernels'\n",
            "def f():\n    from . import kernels\n    return 'import kernels'\n",
        ),
        ("import kernelsmith\nfrom torch import kernels\nfrom .kernels import a\n", None),
    ],
)
def test_imports(before: str, after: str | None) -> None:
    assert make_kernels_relative(before) == (before if after is None else after)


def test_line_ends_of_other_systems_stay() -> None:
    assert (
        make_kernels_relative("import torch\r\nimport kernels\r\n")
        == "import torch\r\nfrom . import kernels\r\n"
    )


def test_a_form_feed_is_not_a_line_end() -> None:
    assert make_kernels_relative("x = 1\n\x0c\nimport kernels\n") == "x = 1\n\x0c\nfrom . import kernels\n"

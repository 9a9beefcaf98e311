"""What does not count for a program's normal form, and what does."""

import pytest

from cuda_agent.synthesis.normal import compute_normal_form, parse_program
from tests.synthesis.conftest import GOOD, RENAMED


def test_names_sizes_texts_and_annotations_do_not_count() -> None:
    assert compute_normal_form(RENAMED) == compute_normal_form(GOOD)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("torch.tanh(x)", "torch.sin(x)"),
        ("torch.tanh(x)", "torch.tanh(x) * 2.0"),
        ("nn.Linear(features, width)", "nn.Linear(features, width, bias=False)"),
        ("torch.randn(16", "torch.rand(16"),
        ("        x = self.linear(x)\n", "        y = self.linear(x)\n"),
    ],
)
def test_what_is_computed_counts(old: str, new: str) -> None:
    assert old in GOOD
    assert compute_normal_form(GOOD.replace(old, new)) != compute_normal_form(GOOD)


@pytest.mark.parametrize(
    "code",
    ["import torch\nprint(torch.nn.functional.relu)", "from torch.nn import functional as g\nprint(g.relu)"],
)
def test_an_imported_name_is_the_same_under_every_alias(code: str) -> None:
    short = "import torch.nn.functional as F\nprint(F.relu)"
    assert compute_normal_form(code) == compute_normal_form(short)


def test_a_size_may_be_written_in_place_or_as_a_constant() -> None:
    in_place = GOOD.replace("16, features", "16, 32").replace("[features, width]", "[32, 24]")
    assert compute_normal_form(in_place) == compute_normal_form(GOOD)


@pytest.mark.parametrize("code", ["def", "\0", "(" * 1000])
def test_what_does_not_parse(code: str) -> None:
    with pytest.raises(ValueError, match=r"line|parse"):
        parse_program(code)

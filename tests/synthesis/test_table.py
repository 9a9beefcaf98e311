"""The tables say what signatures do not."""

import pytest

from cuda_agent.synthesis.operator import Domain, Layout, OperandKind
from cuda_agent.synthesis.table import find_reason, load_reasons, load_table


def test_torch_has_an_entry_with_all_that_its_template_names() -> None:
    table = load_table("torch")
    conv = next(o for o in table.operators if o.name == "torch.nn.functional.conv2d")
    assert conv.layout is Layout.IMAGE
    assert conv.choices["out_channels"] == ("32", "64")
    assert conv.operands["weight"].kind is OperandKind.WEIGHT
    assert table.domains["torch.log"] is Domain.POSITIVE


def test_a_block_brings_its_imports() -> None:
    mlp = next(o for o in load_table("transformers").operators if o.name.endswith(".LlamaMLP"))
    assert mlp.imports == (
        "from transformers import LlamaConfig",
        "from transformers.models.llama.modeling_llama import LlamaMLP",
    )


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("torch.dropout", "random"),
        ("torch.nn.RReLU", "random"),
        ("torch.cholesky", "factorisation"),
        ("torch.transpose", "views"),
        ("torch.arcsin", "another name"),
        ("torch.scatter_add", "order"),
    ],
)
def test_reasons(name: str, words: str) -> None:
    assert words in find_reason(name, load_reasons())


@pytest.mark.parametrize("name", ["torch.sin", "torch.nn.functional.relu", "torch.linalg.vector_norm"])
def test_no_reason_against_what_is_used(name: str) -> None:
    assert find_reason(name, load_reasons()) == ""


def test_no_entry_is_left_out_by_a_pattern_too() -> None:
    reasons = load_reasons()
    assert [o.name for o in load_table("torch").operators if find_reason(o.name, reasons)] == []

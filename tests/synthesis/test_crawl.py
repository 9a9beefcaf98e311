"""What the installed libraries have: enough to compose tasks from, and a reason for all the rest."""

import importlib.util

import pytest

from cuda_agent.synthesis.crawl import Crawl, crawl, try_operator
from cuda_agent.synthesis.operator import Layout, Operator
from cuda_agent.synthesis.trial import TrialError


@pytest.fixture(scope="module")
def found() -> Crawl:
    return crawl(("torch",))


def test_at_least_150_torch_operators(found: Crawl) -> None:
    assert len(found.operators) >= 150
    names = {operator.name for operator in found.operators}
    assert {"torch.nn.Conv2d", "torch.sin", "torch.nn.GELU", "torch.bmm", "torch.gather"} <= names
    assert not names & found.left_out.keys()


def test_what_is_left_out_has_its_reason(found: Crawl) -> None:
    assert found.left_out["torch.dropout"] == "random"
    assert found.left_out["torch.relu"] == "another name of torch.nn.functional.relu"
    assert "argument maker" in found.left_out["torch.conv_tbc"]
    assert all(found.left_out.values())


def test_every_kind_is_there(found: Crawl) -> None:
    tags = {tag for operator in found.operators for tag in operator.tags}
    kinds = {"activation", "reduction", "norm", "pooling", "convolution", "matmul", "attention", "indexing"}
    assert kinds <= tags


@pytest.mark.parametrize("template", ["torch.bernoulli({x})", "torch.mm({x}, {x}, {x})"])
def test_an_operator_that_does_not_work_is_found_out(template: str) -> None:
    with pytest.raises(TrialError):
        try_operator(Operator(name="torch.f", layout=Layout.ANY, template=template))


@pytest.mark.slow
@pytest.mark.skipif(not importlib.util.find_spec("transformers"), reason="needs the extra train")
def test_at_least_40_blocks_of_transformers() -> None:
    found = crawl(("transformers",))
    assert len(found.operators) >= 40, found.left_out
    reasons = {name.rpartition(".")[2]: reason for name, reason in found.left_out.items()}
    assert reasons["LlamaForCausalLM"] == "a whole model, or one with its head"
    assert reasons["LlamaDecoderLayer"] == "a stack of blocks that are operators themselves"
    assert reasons["LlamaRotaryEmbedding"] == "takes numbers of tokens, positions or images"
    assert reasons["MixtralSparseMoeBlock"].startswith("routed")
    assert "LlamaRMSNorm" not in reasons

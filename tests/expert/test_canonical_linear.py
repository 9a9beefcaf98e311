import pytest

from cuda_agent.expert.canonical import UnsupportedError
from cuda_agent.expert.canonicalize import canonicalize
from cuda_agent.expert.trace import trace_source
from tests.expert.zoo import write_module


def test_a_product_keeps_its_operands_as_they_are() -> None:
    source = write_module("return x @ y.T", {"x": "torch.randn(4, 5)", "y": "torch.randn(6, 5)"})
    nodes = canonicalize(trace_source(source)).nodes
    assert [(node.op, node.shape) for node in nodes] == [("permute", (5, 6)), ("matmul", (4, 6))]


def test_products_of_other_dtypes_are_left_alone() -> None:
    source = write_module("return x @ x", {"x": "torch.randn(4, 4).double()"})
    with pytest.raises(UnsupportedError, match="matrix products of float64 are beyond me"):
        canonicalize(trace_source(source))

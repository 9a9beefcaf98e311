import pytest

from cuda_agent.expert import ops
from cuda_agent.expert.canonical import UnsupportedError
from cuda_agent.expert.canonicalize import canonicalize, find_read_sources
from cuda_agent.expert.lower import RULES
from cuda_agent.expert.trace import trace_source
from tests.expert.zoo import ZOO, X, write_module


def test_every_module_of_the_zoo_is_written_in_words_that_can_be_lowered() -> None:
    for name in ("gelu_tanh", "activations", "cross_entropy", "group_norm", "casts", "counts", "rotary_half"):
        graph = canonicalize(trace_source(ZOO[name]))
        assert {node.op for node in graph.nodes} <= set(RULES), name
        assert all(node.dtype in ops.LANES for node in graph.nodes), name


def test_an_unknown_operation_is_named() -> None:
    graph = trace_source(write_module("return torch.nextafter(x, x * 2)", X))
    with pytest.raises(UnsupportedError, match=r"aten\.nextafter"):
        canonicalize(graph)


def test_small_constants_of_one_element_become_numbers() -> None:
    graph = canonicalize(trace_source(write_module("return x * torch.tensor(3.0)", X)))
    assert [source.name for source in find_read_sources(graph)] == ["x"]


def test_statistics_of_a_norm_are_refused() -> None:
    graph = trace_source(
        write_module("return torch.native_group_norm(x, None, None, 5, 37, 1, 1, 1e-5)[1]", X)
    )
    with pytest.raises(UnsupportedError, match="further results"):
        canonicalize(graph)

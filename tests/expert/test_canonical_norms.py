from cuda_agent.expert.canonicalize import canonicalize
from cuda_agent.expert.graph import Graph
from cuda_agent.expert.trace import trace_source
from tests.expert.zoo import IMAGE, ZOO, write_module


def count(graph: Graph, op: str) -> int:
    return sum(node.op == op for node in graph.nodes)


def test_group_norm_reduces_each_group_twice() -> None:
    graph = canonicalize(trace_source(ZOO["group_norm"]))
    assert count(graph, "sum") == 2
    assert [node.shape for node in graph.nodes if node.op == "sum"] == [(2, 3), (2, 3)]


def test_batch_norm_at_inference_reduces_nothing() -> None:
    assert count(canonicalize(trace_source(ZOO["batch_norm"])), "sum") == 0


def test_weight_and_bias_may_be_missing() -> None:
    graph = canonicalize(trace_source(write_module("return F.group_norm(x, 2)", IMAGE)))
    assert [source.path for source in graph.sources] == ["x"]

from cuda_agent.expert.canonicalize import canonicalize
from cuda_agent.expert.graph import Graph
from cuda_agent.expert.rewrite import rewrite_graph
from cuda_agent.expert.trace import trace_source
from tests.expert.zoo import XY, ZOO, X, write_module


def rewrite(forward: str, inputs: dict[str, str] = X) -> Graph:
    return rewrite_graph(canonicalize(trace_source(write_module(forward, inputs))))


def get_ops(graph: Graph) -> list[str]:
    return [node.op for node in graph.nodes]


def test_identities_fall_away() -> None:
    assert get_ops(rewrite("return (x * 1.0 + 0.0 - 0).to(torch.float32) / 1 + y", XY)) == ["add"]


def test_a_broadcast_identity_stays() -> None:
    graph = rewrite("return x * torch.ones(3, 5, 37)")
    assert graph.nodes[-1].shape == (3, 5, 37)


def test_equal_expressions_are_computed_once() -> None:
    assert get_ops(rewrite("return torch.exp(x + y) * torch.exp(x + y)", XY)) == ["add", "exp", "mul"]


def test_dead_code_and_its_sources_fall_away() -> None:
    graph = rewrite("z = y.exp()\nreturn x * 2", XY)
    assert get_ops(graph) == ["mul"]
    assert [source.path for source in graph.sources] == ["x"]


def test_division_by_a_number_becomes_a_product() -> None:
    graph = rewrite("return x / 8")
    assert (graph.nodes[0].op, graph.nodes[0].args["1"]) == ("mul", 0.125)
    assert get_ops(rewrite("return x / 0.0")) == ["div"]


def test_a_sigmoid_beside_its_exponential_needs_no_second_one() -> None:
    graph = rewrite_graph(canonicalize(trace_source(ZOO["focal"])))
    assert "sigmoid" not in get_ops(graph)
    assert get_ops(graph).count("exp") == 1
    assert get_ops(rewrite("return torch.sigmoid(x)")) == ["sigmoid"]


def test_only_widening_casts_fall_away() -> None:
    assert get_ops(rewrite("return x.float() * 2", {"x": "torch.randn(4).bfloat16()"})) == ["mul"]
    assert get_ops(rewrite("return x.bfloat16().float() * 2")) == ["cast", "mul"]
    graph = rewrite("return x.float()", {"x": "torch.randn(4).half()"})
    assert (get_ops(graph), graph.nodes[0].dtype) == (["cast"], "float32")
    assert get_ops(rewrite("return x.int().float()")) == ["cast", "cast"]

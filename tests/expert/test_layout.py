from pydantic import JsonValue

from cuda_agent.expert.graph import Graph, Node, Origin, Source
from cuda_agent.expert.layout import Layout, find_needs, find_reductions, walk_up
from cuda_agent.expert.plan import Role


def build_node(name: str, op: str, *refs: str) -> Node:
    args: dict[str, JsonValue] = {str(place): {"ref": ref} for place, ref in enumerate(refs)}
    return Node(name=name, op=op, args=args, shape=(4,), dtype="float32")


GRAPH = Graph(
    sources=tuple(
        Source(name=name, origin=Origin.INPUT, path=name, shape=(4,), dtype="float32") for name in ("x", "y")
    ),
    nodes=(
        build_node("a", "exp", "x"),
        build_node("s", "sum", "a"),
        build_node("b", "mul", "a", "s"),
        build_node("c", "add", "b", "y"),
    ),
    outputs=("c", "a"),
    structure="({0}, {1})",
)


def test_roots_come_in_the_order_of_the_graph() -> None:
    assert Layout(GRAPH).find_roots() == ["a", "c"]
    assert Layout(GRAPH).cut("s").find_roots() == ["a", "s", "c"]


def test_buffers_have_roles() -> None:
    buffers = {buffer.name: (buffer.role, buffer.node) for buffer in Layout(GRAPH).cut("b").buffers}
    assert buffers == {
        "in0": (Role.SOURCE, "x"),
        "in1": (Role.SOURCE, "y"),
        "out0": (Role.OUTPUT, "a"),
        "out1": (Role.OUTPUT, "c"),
        "mid0": (Role.SCRATCH, "b"),
    }


def test_an_output_is_read_back_only_once_it_is_cut() -> None:
    assert "a" not in Layout(GRAPH).stored
    assert Layout(GRAPH).cut("a").stored["a"] == "out0"


def test_walks_end_at_what_is_in_memory() -> None:
    stored = Layout(GRAPH).stored
    assert [node.name for node in find_reductions(GRAPH, "c", stored=stored)] == ["s"]
    assert find_needs(GRAPH, "c", stored=stored) == {"x", "y"}
    cut = Layout(GRAPH).cut("b").stored
    assert walk_up(GRAPH, "c", stored=cut) == ["c", "b", "y"]
    assert find_reductions(GRAPH, "c", stored=cut) == []
    assert find_needs(GRAPH, "c", stored=cut) == {"b", "y"}

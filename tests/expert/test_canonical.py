import pytest
from pydantic import JsonValue

from cuda_agent.expert.canonical import Draft, UnsupportedError, count_reduced, find_packet, write_pow
from cuda_agent.expert.graph import Graph, Node, Origin, Source

GRAPH = Graph(
    sources=(Source(name="x", origin=Origin.INPUT, path="x", shape=(4, 6), dtype="float32"),),
    nodes=(),
    outputs=(),
    structure="",
)


def build_pow(exponent: float) -> list[str]:
    draft = Draft(GRAPH)
    args: dict[str, JsonValue] = {"self": {"ref": "x"}, "exponent": exponent}
    write_pow(draft, Node(name="p", op="aten.pow.Tensor_Scalar", args=args, shape=(4, 6), dtype="float32"))
    return [node.op for node in draft.nodes]


@pytest.mark.parametrize(
    ("exponent", "steps"),
    [
        (2, ["mul"]),
        (2.0, ["mul"]),
        (3, ["mul", "mul"]),
        (0.5, ["sqrt"]),
        (-0.5, ["rsqrt"]),
        (-1, ["reciprocal"]),
        (1.5, ["sqrt", "mul"]),
        (2.7, ["pow"]),
        (1, []),
    ],
)
def test_powers_become_products_and_roots(exponent: float, steps: list[str]) -> None:
    assert build_pow(exponent) == steps


def test_a_reduction_drops_its_dimensions_and_keepdim_is_a_reshape() -> None:
    draft = Draft(GRAPH)
    draft.reduce("sum", "x", dims=(-1,), keepdim=True, dtype="float32")
    assert [(node.op, node.shape) for node in draft.nodes] == [("sum", (4,)), ("reshape", (4, 1))]
    assert draft.nodes[0].args["dims"] == [1]


def test_comparisons_give_truth_values_whatever_they_compare() -> None:
    draft = Draft(GRAPH)
    like = Node(name="", op="", args={}, shape=(4, 6), dtype="float32")
    assert draft.dtypes[draft.point("gt", ["x", 0.0], like=like)] == "bool"
    assert draft.dtypes[draft.point("mul", ["x", 2.0], like=like)] == "float32"


def test_unknown_dtypes_are_refused_by_name() -> None:
    with pytest.raises(UnsupportedError, match="complex64"):
        Draft(GRAPH).add("mul", {}, shape=(2,), dtype="complex64")


def test_packets_and_counts() -> None:
    assert find_packet(Node(name="", op="aten.add.Tensor", args={}, shape=(), dtype="")) == "add"
    assert find_packet(Node(name="", op="prims.sum.default", args={}, shape=(), dtype="")) == "prims.sum"
    assert find_packet(Node(name="", op="getitem", args={}, shape=(), dtype="")) == "getitem"
    assert count_reduced((4, 6), (1,)) == 6
    assert count_reduced((4, 6), ()) == 24

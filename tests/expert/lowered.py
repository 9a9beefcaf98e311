"""Small graphs to lower by hand."""

from pydantic import JsonValue

from cuda_agent.expert.domain import Dim, Domain
from cuda_agent.expert.graph import Graph, Node, Origin, Source
from cuda_agent.expert.index import build_counter
from cuda_agent.expert.lower import build_lowering
from cuda_agent.expert.lowering import Lowering, Place

ROWS, COLUMNS = 4, 6
PLACE = Place((build_counter(0, ROWS), build_counter(1, COLUMNS)), 0)
SHAPES = {"x": (ROWS, COLUMNS), "row": (ROWS, 1), "col": (COLUMNS,), "one": ()}


def node(name: str, op: str, *shape: int, dtype: str = "float32", **args: JsonValue) -> Node:
    named = {key.removeprefix("_"): value for key, value in args.items()}
    return Node(name=name, op=op, args=named, shape=shape, dtype=dtype)


def ref(name: str) -> JsonValue:
    return {"ref": name}


def build(*nodes: Node, is_flat: bool = False) -> Lowering:
    """A lowering over 4 rows of 6 columns, with sources of every broadcast shape."""
    sources = tuple(
        Source(name=name, origin=Origin.INPUT, path=name, shape=shape, dtype="float32")
        for name, shape in SHAPES.items()
    )
    index = Source(name="i", origin=Origin.INPUT, path="i", shape=(ROWS, 1), dtype="int64")
    graph = Graph(sources=(*sources, index), nodes=nodes, outputs=(), structure="")
    domain = Domain((Dim(ROWS),), (COLUMNS,), ((0, COLUMNS),), (), is_flat)
    return build_lowering(graph, domain, stored={name: name for name in (*SHAPES, "i")})

"""Lower what goes along one dimension: it is a step of its own, from one tensor in memory to another."""

from math import prod

from cuda_agent.expert import ops
from cuda_agent.expert.graph import Graph, Node
from cuda_agent.expert.layout import Layout
from cuda_agent.expert.lowering import CutError, Lowering, Place
from cuda_agent.expert.plan import Buffer, Traversal


def lower_traversal(lowering: Lowering, node: Node, *, place: Place) -> int:
    """No kernel computes a line on the way.

    Raises:
        CutError: always.
    """
    raise CutError(node.name, "goes along a dimension")


def build_traversal(layout: Layout, root: str, *, buffer: Buffer) -> Traversal:
    """The traversal that fills a buffer.

    Raises:
        CutError: its operand must be written to memory first.
    """
    node = next(node for node in layout.graph.nodes if node.name == root)
    name, dim = node.get_ref("input"), node.get_int("dim")
    stored = layout.stored
    if name not in stored:
        raise CutError(name, "a line is read from memory")
    return Traversal(
        name=root,
        op=node.op,
        source=stored[name],
        out=buffer.name,
        outer=prod(node.shape[:dim]),
        length=node.shape[dim],
        inner=prod(node.shape[dim + 1 :]),
    )


def find_traversals(graph: Graph) -> tuple[str, ...]:
    """Every traversal of a graph."""
    return tuple(node.name for node in graph.nodes if node.op in ops.TRAVERSALS)

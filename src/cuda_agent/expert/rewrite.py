"""Rewrites of a canonical graph. Each says under which condition it holds; none changes a result visibly."""

import json

from pydantic import JsonValue

from cuda_agent.expert import ops
from cuda_agent.expert.canonical import name_operands
from cuda_agent.expert.canonicalize import find_read_sources
from cuda_agent.expert.graph import Graph, Node, replace_refs
from cuda_agent.expert.rewrite_index import rewrite_indices
from cuda_agent.expert.rewrite_linear import rewrite_product

MOST_ROUNDS = 200
"""More rounds than this are never needed: each rewrites one product, or is the last."""

Known = dict[str, Node]
"""Nodes by name."""


def get_scalar(known: Known, arg: JsonValue) -> float | None:
    """The number that an operand is, written out or as a filled tensor; None when it is neither."""
    if isinstance(arg, int | float):
        return float(arg)
    if isinstance(arg, dict):
        node = known.get(str(arg["ref"]))
        if node is not None and node.op == "full":
            return float(node.get_number("value"))
    return None


def fold_scalars(node: Node, known: Known) -> Node:
    """Write a filled tensor as a number. Holds when it does not widen the result's shape."""
    if node.op not in ops.POINTWISE or len(node.args) < 2:
        return node
    args = dict(node.args)
    for key, arg in node.args.items():
        others = [other for name, other in args.items() if name != key and isinstance(other, dict)]
        value = get_scalar(known, arg)
        filled = known.get(str(arg["ref"])) if isinstance(arg, dict) else None
        if value is not None and filled is not None and filled.numel == 1 and others:
            args[key] = int(value) if ops.LANES[filled.dtype] is ops.Lane.I64 else value
    return node.model_copy(update={"args": args})


def multiply_by_reciprocal(node: Node, known: Known) -> Node:
    """Write x / c as x * (1/c). Holds for a constant with a normal reciprocal: one more rounding."""
    if node.op != "div" or ops.LANES[node.dtype] is ops.Lane.I64:
        return node
    divisor = get_scalar(known, node.args["1"])
    if divisor is None or not 1e-30 < abs(divisor) < 1e30:
        return node
    return node.model_copy(update={"op": "mul", "args": {"0": node.args["0"], "1": 1.0 / divisor}})


def is_widening(source: str, target: str) -> bool:
    """Whether every value of one float dtype is one of the other, and both are held in float32 lanes."""
    narrow = source in ("float16", "bfloat16") or source == target
    return narrow and ops.LANES[source] is ops.LANES[target] is ops.Lane.F32 and target in ("float32", source)


def find_identity(node: Node, known: Known, *, dtypes: dict[str, str]) -> JsonValue:
    """The operand that a node equals: x * 1, x / 1, x + 0, x - 0, a cast to a wider float. None otherwise.

    Holds when the operand has the node's shape; -0 + 0 is +0, which no comparison sees. A cast to a narrower
    float stays, because the reference rounds there too.
    """
    first, second = node.args.get("0"), node.args.get("1")
    neutral = {"mul": 1.0, "div": 1.0, "add": 0.0, "sub": 0.0}
    if node.op == "cast" and isinstance(first, dict):
        return first if is_widening(dtypes[str(first["ref"])], node.dtype) else None
    if node.op not in neutral:
        return None
    if get_scalar(known, second) == neutral[node.op]:
        return first
    if node.op in ("mul", "add") and get_scalar(known, first) == neutral[node.op]:
        return second
    return None


def drop_identities(graph: Graph) -> Graph:
    """Leave out nodes that equal one of their operands; outputs keep their node when the dtype differs."""
    known: Known = {}
    names: dict[str, str] = {}
    shapes, dtypes = graph.shapes, graph.dtypes
    kept = []
    for traced in graph.nodes:
        node = traced.model_copy(update={"args": replace_named(traced.args, names)})
        node = multiply_by_reciprocal(fold_scalars(node, known), known)
        same = find_identity(node, known, dtypes=dtypes)
        target = str(same["ref"]) if isinstance(same, dict) else ""
        fits = bool(target) and shapes[target] == node.shape
        if fits and (dtypes[target] == node.dtype or (node.op == "cast" and node.name not in graph.outputs)):
            names[node.name] = target
            continue
        known[node.name] = node
        kept.append(node)
    outputs = tuple(names.get(name, name) for name in graph.outputs)
    return graph.model_copy(update={"nodes": tuple(kept), "outputs": outputs})


def replace_named(args: dict[str, JsonValue], names: dict[str, str]) -> dict[str, JsonValue]:
    """Arguments with references renamed."""
    return {key: replace_refs(value, names) for key, value in args.items()}


def merge_equal(graph: Graph) -> Graph:
    """Compute equal expressions once. Holds because every canonical operation is a pure function."""
    seen: dict[str, str] = {}
    names: dict[str, str] = {}
    kept = []
    for traced in graph.nodes:
        node = traced.model_copy(update={"args": replace_named(traced.args, names)})
        key = json.dumps([node.op, sorted(node.args.items()), node.shape, node.dtype])
        if key in seen:
            names[node.name] = seen[key]
            continue
        seen[key] = node.name
        kept.append(node)
    outputs = tuple(names.get(name, name) for name in graph.outputs)
    return graph.model_copy(update={"nodes": tuple(kept), "outputs": outputs})


def share_exponential(graph: Graph) -> Graph:
    """sigmoid(x) from e = exp(-|x|) where that is computed anyway.

    With e at hand, sigmoid(x) is 1/(1+e) for x >= 0 and e/(1+e) otherwise: a division instead of another
    exponential, and as accurate. Holds wherever exp(neg(abs(x))) of the very same x stands in the graph.
    """
    known = {node.name: node for node in graph.nodes}
    roots: dict[str, str] = {}
    for node in graph.nodes:
        inner = node
        for op in ("exp", "neg", "abs"):
            if inner.op != op:
                break
            below = inner.get_ref("0")
            if op == "abs":
                roots[below] = node.name
            inner = known.get(below, inner)
    wanted = [node for node in graph.nodes if node.op == "sigmoid" and node.get_ref("0") in roots]
    if not wanted:
        return graph
    return sort_nodes(graph, [part for node in wanted for part in write_shared_sigmoid(node, roots)])


def write_shared_sigmoid(node: Node, roots: dict[str, str]) -> list[Node]:
    """The nodes that replace one sigmoid; the last takes its name."""
    x, e = node.get_ref("0"), roots[node.get_ref("0")]

    def point(suffix: str, op: str, *operands: JsonValue) -> Node:
        dtype = "bool" if op in ops.COMPARISONS else node.dtype
        args = name_operands(list(operands))
        return Node(name=node.name + suffix, op=op, args=args, shape=node.shape, dtype=dtype)

    name = node.name
    return [
        point("_right", "ge", x, 0.0),
        point("_below", "add", e, 1.0),
        point("_above", "where", f"{name}_right", 1.0, e),
        point("", "div", f"{name}_above", f"{name}_below"),
    ]


def sort_nodes(graph: Graph, changed: list[Node]) -> Graph:
    """The graph with `changed` nodes put in (replacing those of the same name), in an order that works."""
    pool = {node.name: node for node in graph.nodes} | {node.name: node for node in changed}
    done = {source.name for source in graph.sources}
    ordered: list[Node] = []
    while pool:
        ready = [node for node in pool.values() if done.issuperset(node.get_refs())]
        assert ready, "the rewritten graph has a cycle"
        ordered += ready
        done |= {node.name for node in ready}
        pool = {name: node for name, node in pool.items() if name not in done}
    return graph.model_copy(update={"nodes": tuple(ordered)})


def drop_dead(graph: Graph) -> Graph:
    """Leave out nodes and sources that no output needs."""
    needed = set(graph.outputs)
    kept = []
    for node in reversed(graph.nodes):
        if node.name in needed:
            kept.append(node)
            needed |= set(node.get_refs())
    graph = graph.model_copy(update={"nodes": tuple(reversed(kept))})
    return graph.model_copy(update={"sources": find_read_sources(graph)})


STEPS = (drop_identities, merge_equal, share_exponential, drop_dead, rewrite_indices, rewrite_product)
"""The rewrites of one round, in order."""


def rewrite_graph(graph: Graph) -> Graph:
    """Every rewrite, until nothing changes."""
    for _ in range(MOST_ROUNDS):
        before = graph
        for step in STEPS:
            graph = step(graph)
        if graph == before:
            break
    return drop_dead(graph)

"""Canonical forms of what goes along one dimension: running sums and the like, sorting, places."""

from math import prod

from pydantic import JsonValue

from cuda_agent.expert import ops
from cuda_agent.expert.canonical import Draft, Rule, UnsupportedError
from cuda_agent.expert.canonical_views import add_slice
from cuda_agent.expert.graph import Node

TRAVERSED = ("float32", "float64", "int64")
"""dtypes in which running sums and the like are written."""


def add_traversal(draft: Draft, op: str, *, name: str, dim: int) -> str:
    """A tensor of the same shape, computed along one dimension; what is zero-dimensional is its own.

    Raises:
        UnsupportedError: not in this dtype.
    """
    shape, dtype = draft.shapes[name], draft.dtypes[name]
    if not shape:
        return name
    if dtype not in (("float32",) if op == "sort" else TRAVERSED):
        raise UnsupportedError(f"{op} of {dtype} is beyond me")
    args: dict[str, JsonValue] = {"input": {"ref": name}, "dim": dim % len(shape)}
    return draft.add(op, args, shape=shape, dtype=dtype)


def write_running(op: str) -> Rule:
    """A rule for running sums, products, extremes or logarithms of sums of exponentials."""

    def rule(draft: Draft, node: Node) -> str:
        name = draft.find(node.args["self"])
        if draft.dtypes[name] != node.dtype:
            name = draft.add("cast", {"0": {"ref": name}}, shape=draft.shapes[name], dtype=node.dtype)
        return add_traversal(draft, op, name=name, dim=node.get_int("dim"))

    return rule


def add_sorted(draft: Draft, node: Node, *, is_descending: bool) -> tuple[str, int]:
    """The operand sorted along its dimension, NaN counting as greatest; and that dimension."""
    name = draft.find(node.args["self"])
    shape = draft.shapes[name]
    dim = node.get_int("dim") % max(1, len(shape))
    name = add_traversal(draft, "sort", name=name, dim=dim)
    if is_descending and shape and shape[dim] > 1:
        name = add_slice(draft, name, dim=dim, start=shape[dim] - 1, step=-1, size=shape[dim])
    return name, dim


def write_sort(draft: Draft, node: Node) -> str:
    """The values in order."""
    return add_sorted(draft, node, is_descending=node.args.get("descending") is True)[0]


def write_top(draft: Draft, node: Node) -> str:
    """The first few values in order, the greatest or the least."""
    name, dim = add_sorted(draft, node, is_descending=node.args.get("largest") is not False)
    return add_slice(draft, name, dim=dim, start=0, size=node.get_int("k")) if node.shape else name


def write_nth(draft: Draft, node: Node) -> str:
    """The k-th smallest value."""
    name, dim = add_sorted(draft, node, is_descending=False)
    part = (
        add_slice(draft, name, dim=dim, start=node.get_int("k") - 1, size=1) if draft.shapes[name] else name
    )
    return draft.reshape(part, node.shape)


def write_median(draft: Draft, node: Node) -> str:
    """The lower of the middle values; NaN where there is one, which the last in order tells."""
    name, dim = add_sorted(draft, node, is_descending=False)
    size = draft.shapes[name][dim]
    middle, last = (
        draft.reshape(add_slice(draft, name, dim=dim, start=start, size=1), node.shape)
        for start in ((size - 1) // 2, size - 1)
    )
    is_nan = draft.point("isnan", [last], like=node)
    return draft.point("where", [is_nan, last, middle], like=node)


def write_place(op: str) -> Rule:
    """A rule for where the extreme lies: the first place that holds it, or the first NaN."""

    def rule(draft: Draft, node: Node) -> str:
        name = draft.find(node.args["self"])
        if node.args.get("dim") is None:
            name = draft.reshape(name, (prod(draft.shapes[name]),))
        shape, dtype = draft.shapes[name], draft.dtypes[name]
        dim = (node.get_int("dim") if node.args.get("dim") is not None else 0) % max(1, len(shape))
        best = draft.reduce(op, name, dims=(dim,), keepdim=True, dtype=dtype)
        wide = Node(name="", op="", args={}, shape=shape, dtype="int64")
        found = draft.point("eq", [name, best], like=wide)
        if ops.LANES[dtype] is not ops.Lane.I64:
            found = draft.point("logical_or", [found, draft.point("isnan", [name], like=wide)], like=wide)
        places = draft.add("iota", {"start": 0, "step": 1}, shape=(shape[dim],), dtype="int64")
        places = draft.reshape(places, (shape[dim],) + (1,) * (len(shape) - 1 - dim))
        placed = draft.point("where", [found, places, shape[dim]], like=wide)
        result = draft.reduce("amin", placed, dims=(dim,), keepdim=False, dtype="int64")
        return draft.reshape(result, node.shape)

    return rule


RUNNING: dict[str, Rule] = {op: write_running(op) for op in ops.RUNNING}
"""A rule for each of them."""

"""Indices that are known when the module is traced, as concatenations of slices: loads instead of look-ups.

Padding by reflection or repetition, flips and rolls are traced as indices that are counted out.
"""

import math
import operator
from collections.abc import Callable
from itertools import product
from math import prod

from pydantic import JsonValue

from cuda_agent.expert.graph import Graph, Node, find_refs

MOST_INDICES = 1 << 14
"""Longer index tensors are left alone."""

MOST_RUNS = 6
"""An index of more runs than this is left alone."""

Number = int | bool
Run = tuple[int, int, int]
"""Start, step and length."""

FUNCTIONS: dict[str, Callable[..., Number]] = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul, "neg": operator.neg, "abs": abs,
    "maximum": max, "minimum": min, "where": lambda c, a, b: a if c else b,
    "eq": operator.eq, "ne": operator.ne, "lt": operator.lt, "le": operator.le,
    "gt": operator.gt, "ge": operator.ge,
    "logical_and": lambda a, b: bool(a and b), "logical_or": lambda a, b: bool(a or b),
    "logical_xor": lambda a, b: bool(a) != bool(b), "logical_not": operator.not_,
    "fmod": lambda a, b: int(math.fmod(a, b)), "cast": lambda a: a,
}  # fmt: skip
"""What can be computed ahead, of whole numbers and truth values."""


class Known:
    """Values of whole-numbered nodes that follow from counting alone."""

    def __init__(self, graph: Graph) -> None:
        """Nothing is computed yet."""
        self._nodes = {node.name: node for node in graph.nodes}
        self._values: dict[str, list[Number] | None] = {}

    def find(self, name: str) -> list[Number] | None:
        """The elements of a node in row-major order, or None where they depend on data or are too many."""
        if name not in self._values:
            self._values[name] = self._compute(self._nodes.get(name))
        return self._values[name]

    def _compute(self, node: Node | None) -> list[Number] | None:
        if node is None or node.dtype not in ("int64", "bool") or node.numel > MOST_INDICES:
            return None
        if node.op == "iota":
            return [node.get_int("start") + node.get_int("step") * place for place in range(node.numel)]
        if node.op == "full":
            return [int(node.get_number("value"))] * node.numel
        if node.op == "reshape":
            return self.find(node.get_ref("input"))
        if node.op == "expand":
            return self._spread(node.args["input"], node.shape)
        if node.op not in FUNCTIONS:
            return None
        operands = [self._spread(arg, node.shape) for arg in node.args.values()]
        whole = [operand for operand in operands if operand is not None]
        if len(whole) < len(operands):
            return None
        return [FUNCTIONS[node.op](*each) for each in zip(*whole, strict=True)]

    def _spread(self, arg: JsonValue, shape: tuple[int, ...]) -> list[Number] | None:
        """An operand as large as a result."""
        if isinstance(arg, int):
            return [arg] * prod(shape)
        if not isinstance(arg, dict):
            return None
        name = str(arg["ref"])
        values = self.find(name)
        if values is None:
            return None
        own = self._nodes[name].shape
        wide = (1,) * (len(shape) - len(own)) + own
        strides = [prod(wide[dim + 1 :]) if wide[dim] > 1 else 0 for dim in range(len(shape))]
        places = product(*(range(size) for size in shape))
        return [values[sum(i * s for i, s in zip(place, strides, strict=True))] for place in places]


def find_runs(values: list[int]) -> list[Run]:
    """The values as few runs of equal steps."""
    runs: list[Run] = []
    place = 0
    while place < len(values):
        step = values[place + 1] - values[place] if place + 1 < len(values) else 1
        end = place + 1
        while end < len(values) and values[end] - values[end - 1] == step:
            end += 1
        runs.append((values[place], step, end - place))
        place = end
    return runs


def find_axis_runs(graph: Graph, node: Node, *, known: Known) -> list[list[Run]] | None:
    """For each picked dimension its runs, where the k-th index varies along the k-th dimension only."""
    indices = find_refs([node.args["indices"]])
    shapes, sizes = graph.shapes, graph.shapes[node.get_ref("input")]
    found = []
    for place, name in enumerate(indices):
        shape = (1,) * (len(indices) - len(shapes[name])) + shapes[name]
        values = known.find(name)
        if values is None or len(shape) != len(indices):
            return None
        if (
            any(size > 1 for dim, size in enumerate(shape) if dim != place)
            or shape[place] != node.shape[place]
        ):
            return None
        runs = find_runs([int(value) + (sizes[place] if value < 0 else 0) for value in values])
        if len(runs) > MOST_RUNS:
            return None
        found.append(runs)
    return found


def cut_runs(node: Node, name: str, *, shape: list[int], dim: int, runs: list[Run]) -> tuple[list[Node], str]:
    """The nodes that put a dimension's runs one after the other, and the name of the last."""
    made: list[Node] = []

    def add(op: str, args: dict[str, JsonValue], *, size: int) -> str:
        sizes = (*shape[:dim], size, *shape[dim + 1 :])
        made.append(
            Node(name=f"{node.name}_{dim}_{len(made)}", op=op, args=args, shape=sizes, dtype=node.dtype)
        )
        return made[-1].name

    parts = []
    for start, step, length in runs:
        size, stride = (1, 1) if step == 0 else (length, step)
        args: dict[str, JsonValue] = {"input": {"ref": name}, "dim": dim, "start": start, "step": stride}
        part = add("slice", args, size=size)
        parts.append(part if size == length else add("expand", {"input": {"ref": part}}, size=length))
    if len(parts) == 1:
        return made, parts[0]
    refs: list[JsonValue] = [{"ref": part} for part in parts]
    return made, add("cat", {"inputs": refs, "dim": dim}, size=sum(length for _, _, length in runs))


def rewrite_indices(graph: Graph) -> Graph:
    """Every index by counted numbers as slices. Holds because the numbers are the same in every call."""
    known, kept = Known(graph), []
    for node in graph.nodes:
        found = find_axis_runs(graph, node, known=known) if node.op == "index" else None
        if found is None:
            kept.append(node)
            continue
        name = node.get_ref("input")
        shape = list(graph.shapes[name])
        for dim, runs in enumerate(found):
            made, name = cut_runs(node, name, shape=shape, dim=dim, runs=runs)
            shape[dim] = node.shape[dim]
            kept += made
        last: dict[str, JsonValue] = {"input": {"ref": name}}
        kept.append(node.model_copy(update={"op": "reshape", "args": last}))
    return graph.model_copy(update={"nodes": tuple(kept)})

"""From ATen's words to ours: every traced operation becomes a few of those that `ops.py` knows."""

import re
from collections.abc import Callable, Mapping
from math import prod

from pydantic import JsonValue

from cuda_agent.expert import ops
from cuda_agent.expert.graph import Graph, Node, find_refs

Args = Mapping[str, JsonValue]
"""Arguments of a node by name."""


class UnsupportedError(ValueError):
    """The expert has no word for something in the module; the message is a sentence for the reader."""


class Draft:
    """A canonical graph being written."""

    def __init__(self, graph: Graph) -> None:
        """Begin with the sources of `graph` and no nodes."""
        self.nodes: list[Node] = []
        self.shapes = {source.name: source.shape for source in graph.sources}
        self.dtypes = {source.name: source.dtype for source in graph.sources}
        self.renamed: dict[str, str] = {}
        self._traced = {node.name: node for node in graph.nodes}

    def find(self, arg: JsonValue) -> str:
        """The canonical name of the node that an argument refers to."""
        name = find_refs([arg])[0]
        return self.renamed.get(name, name)

    def get_traced(self, arg: JsonValue) -> Node:
        """The traced node that an argument refers to."""
        return self._traced[find_refs([arg])[0]]

    def add(self, op: str, args: Args, *, shape: tuple[int, ...], dtype: str) -> str:
        """Append a node and return its name."""
        if dtype not in ops.LANES:
            raise UnsupportedError(f"tensors of dtype {dtype or 'unknown'} are beyond me (operation {op})")
        name = f"v{len(self.nodes)}"
        self.nodes.append(Node(name=name, op=op, args=dict(args), shape=shape, dtype=dtype))
        self.shapes[name], self.dtypes[name] = shape, dtype
        return name

    def point(self, op: str, operands: list[JsonValue], *, like: Node) -> str:
        """Append a pointwise node with the shape of `like`, and its dtype unless it is a truth value."""
        dtype = "bool" if op in ops.TRUTHS else like.dtype
        return self.add(op, name_operands(operands), shape=like.shape, dtype=dtype)

    def reshape(self, name: str, shape: tuple[int, ...]) -> str:
        """The same elements under other sizes."""
        if self.shapes[name] == shape:
            return name
        return self.add("reshape", {"input": {"ref": name}}, shape=shape, dtype=self.dtypes[name])

    def reduce(self, op: str, name: str, *, dims: tuple[int, ...], keepdim: bool, dtype: str) -> str:
        """Reduce over `dims` (all of them when empty)."""
        shape = self.shapes[name]
        over = sorted({dim % len(shape) for dim in dims}) if dims else list(range(len(shape)))
        if not over:
            return name
        kept = tuple(size for dim, size in enumerate(shape) if dim not in over)
        result = self.add(op, {"input": {"ref": name}, "dims": list(over)}, shape=kept, dtype=dtype)
        wide = tuple(1 if dim in over else size for dim, size in enumerate(shape))
        return self.reshape(result, wide) if keepdim else result


def name_operands(operands: list[JsonValue]) -> dict[str, JsonValue]:
    """Operands of a pointwise node as its arguments: names become references, numbers stay."""
    return {
        str(place): {"ref": item} if isinstance(item, str) else item for place, item in enumerate(operands)
    }


Rule = Callable[[Draft, Node], str]
"""Writes one traced node in canonical words and returns the name of the result."""


def get_operand(draft: Draft, value: JsonValue) -> JsonValue:
    """A pointwise operand: a name, or a number."""
    if isinstance(value, dict):
        return draft.find(value)
    if isinstance(value, int | float):
        return value
    raise UnsupportedError(f"an operand is neither a tensor nor a number: {value!r}")


def write_point(op: str, keys: tuple[str, ...]) -> Rule:
    """A rule for an operation that is pointwise in both vocabularies."""

    def rule(draft: Draft, node: Node) -> str:
        operands = [get_operand(draft, node.args[key]) for key in keys]
        alpha = node.args.get("alpha", 1)
        if isinstance(alpha, int | float) and alpha != 1:
            operands[1] = draft.point("mul", [operands[1], alpha], like=node)
        return draft.point(op, operands, like=node)

    return rule


def write_pow(draft: Draft, node: Node) -> str:
    """A power: products and roots where the exponent allows."""
    base = get_operand(draft, node.args["self"])
    exponent = node.args["exponent"]
    roots = {0.5: "sqrt", -0.5: "rsqrt", -1: "reciprocal"}
    if isinstance(exponent, int | float) and isinstance(base, str):
        if exponent in roots:
            return draft.point(roots[exponent], [base], like=node)
        whole, rest = divmod(exponent, 1)
        if 1 <= whole <= 8 and rest in (0, 0.5):
            power: JsonValue = draft.point("sqrt", [base], like=node) if rest else base
            for _ in range(int(whole) - (0 if rest else 1)):
                power = draft.point("mul", [power, base], like=node)
            return str(power)
    return draft.point("pow", [base, get_operand(draft, exponent)], like=node)


def write_clamp(draft: Draft, node: Node) -> str:
    """Between a lower and an upper bound, either of which may be missing."""
    result = draft.find(node.args["self"])
    for key, op in (("min", "maximum"), ("max", "minimum")):
        if node.args.get(key) is not None:
            result = draft.point(op, [result, get_operand(draft, node.args[key])], like=node)
    return result


def write_cast(draft: Draft, node: Node) -> str:
    """Another dtype; nothing when it is the same."""
    name = draft.find(node.args["self"] if "self" in node.args else node.args["a"])
    return name if draft.dtypes[name] == node.dtype else draft.point("cast", [name], like=node)


def write_full(draft: Draft, node: Node) -> str:
    """A tensor of one number."""
    value = next(node.args[key] for key in ("fill_value", "s", "value") if key in node.args)
    if not isinstance(value, int | float):
        raise UnsupportedError(f"a tensor is filled with {value!r}")
    return draft.add("full", {"value": value}, shape=node.shape, dtype=node.dtype)


def write_filled(value: float) -> Rule:
    """A rule for zeros and ones."""
    return lambda draft, node: draft.add("full", {"value": value}, shape=node.shape, dtype=node.dtype)


def write_arange(draft: Draft, node: Node) -> str:
    """Whole numbers at equal steps."""
    start, step = node.args.get("start", 0), node.args.get("step", 1)
    if not (isinstance(start, int) and isinstance(step, int)):
        raise UnsupportedError("an arange that does not count in whole steps is beyond me")
    counted = draft.add("iota", {"start": start, "step": step}, shape=node.shape, dtype="int64")
    return counted if node.dtype == "int64" else draft.point("cast", [counted], like=node)


def write_sum(op: str) -> Rule:
    """A rule for a reduction that is one in both vocabularies."""

    def rule(draft: Draft, node: Node) -> str:
        key = "self" if "self" in node.args else "inp"
        dims = node.get_ints("dim") or node.get_ints("dims")
        name = draft.find(node.args[key])
        if draft.dtypes[name] != node.dtype:
            name = draft.add("cast", {"0": {"ref": name}}, shape=draft.shapes[name], dtype=node.dtype)
        return draft.reduce(op, name, dims=dims, keepdim=node.args.get("keepdim") is True, dtype=node.dtype)

    return rule


def write_truth(op: str) -> Rule:
    """A rule for whether any, or every, element is true; `op` is the reduction of truth values."""

    def rule(draft: Draft, node: Node) -> str:
        name = draft.find(node.args["self"])
        if draft.dtypes[name] != "bool":
            like = Node(name="", op="", args={}, shape=draft.shapes[name], dtype="bool")
            name = draft.point("ne", [name, 0], like=like)
        keepdim = node.args.get("keepdim") is True
        return draft.reduce(op, name, dims=node.get_ints("dim"), keepdim=keepdim, dtype="bool")

    return rule


def count_reduced(shape: tuple[int, ...], dims: tuple[int, ...]) -> int:
    """How many elements go into one result."""
    return prod(shape[dim] for dim in dims) if dims else prod(shape)


def write_mean(draft: Draft, node: Node) -> str:
    """A sum times the reciprocal count."""
    dims = node.get_ints("dim")
    total = write_sum("sum")(draft, node)
    count = count_reduced(draft.shapes[draft.find(node.args["self"])], dims)
    return draft.point("mul", [total, 1.0 / count], like=node)


def write_var(draft: Draft, node: Node) -> str:
    """The mean squared distance from the mean, in two passes for accuracy."""
    name = draft.find(node.args["inp" if "inp" in node.args else "self"])
    dims = node.get_ints("dims") or node.get_ints("dim")
    correction = node.args.get("correction")
    lost = float(correction) if isinstance(correction, int | float) else 1.0
    count, dtype = count_reduced(draft.shapes[name], dims), node.dtype
    total = draft.reduce("sum", name, dims=dims, keepdim=True, dtype=dtype)
    wide = Node(name="", op="", args={}, shape=draft.shapes[name], dtype=dtype)
    thin = Node(name="", op="", args={}, shape=draft.shapes[total], dtype=dtype)
    mean = draft.point("mul", [total, 1.0 / count], like=thin)
    distance = draft.point("sub", [name, mean], like=wide)
    square = draft.point("mul", [distance, distance], like=wide)
    spread = draft.reduce("sum", square, dims=dims, keepdim=node.args.get("keepdim") is True, dtype=dtype)
    result = Node(name="", op="", args={}, shape=draft.shapes[spread], dtype=dtype)
    return draft.point("mul", [spread, 1.0 / max(count - lost, 1e-30)], like=result)


def find_packet(node: Node) -> str:
    """The operation's bare name: `add` for `aten.add.Tensor`, `prims.sum` for `prims.sum.default`."""
    match = re.fullmatch(r"(\w+)\.(\w+)\.\w+", node.op)
    if match is None:
        return node.op
    return match[2] if match[1] == "aten" else f"{match[1]}.{match[2]}"

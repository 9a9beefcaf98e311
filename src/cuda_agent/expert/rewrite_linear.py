"""Rewrites of matrix products. Each says under which condition it holds and when it pays."""

from collections.abc import Callable
from math import prod

from pydantic import JsonValue

from cuda_agent.expert import ops
from cuda_agent.expert.canonical import name_operands
from cuda_agent.expert.graph import Graph, Node


class Neighbours:
    """A graph that is being rewritten: what its nodes are, and who reads them."""

    def __init__(self, graph: Graph) -> None:
        """Look at `graph`."""
        self.graph = graph
        self.shapes = graph.shapes
        self.nodes = {node.name: node for node in graph.nodes}
        self.readers: dict[str, list[Node]] = {}
        for node in graph.nodes:
            for ref in dict.fromkeys(node.get_refs()):
                self.readers.setdefault(ref, []).append(node)

    def is_read_once(self, name: str) -> bool:
        """Whether one node alone needs a value."""
        return len(self.readers.get(name, ())) == 1 and name not in self.graph.outputs

    def find(self, name: str) -> Node | None:
        """The node of that name; None for a source."""
        return self.nodes.get(name)


Rewrite = Callable[[Neighbours, Node], list[Node] | None]
"""Nodes that take the place of one node, the last under its name; None where the rewrite does not apply."""


def build(name: str, op: str, *, args: dict[str, JsonValue], shape: tuple[int, ...], like: Node) -> Node:
    """A new node of the dtype of another."""
    return Node(name=name, op=op, args=args, shape=shape, dtype=like.dtype)


def point(name: str, op: str, *, operands: list[JsonValue], shape: tuple[int, ...], like: Node) -> Node:
    """A new pointwise node of the dtype of another."""
    return build(name, op, args=name_operands(operands), shape=shape, like=like)


def read_mask(near: Neighbours, name: str) -> tuple[Node, str] | None:
    """The comparison and the value of `where(row index == column index, value, 0)`."""
    node = near.find(name)
    while node is not None and node.op == "reshape" and node.shape == near.shapes[node.get_ref("input")]:
        node = near.find(node.get_ref("input"))
    if node is None or node.op != "where" or not is_zero(near, node.args["2"]):
        return None
    value = node.args["1"]
    if not isinstance(value, dict):
        return None
    condition = near.find(node.get_ref("0"))
    while condition is not None and condition.op == "reshape":
        condition = near.find(condition.get_ref("input"))
    if condition is None or condition.op != "eq" or condition.shape != node.shape:
        return None
    return condition, str(value["ref"])


def is_zero(near: Neighbours, arg: JsonValue) -> bool:
    """Whether an operand is zero everywhere."""
    if isinstance(arg, dict):
        node = near.find(str(arg["ref"]))
        return node is not None and node.op == "full" and node.get_number("value") == 0
    return arg == 0


def counts_along(near: Neighbours, arg: JsonValue, *, dim: int, size: int) -> bool:
    """Whether an operand of a matrix is 0, 1, 2 ... along one of its two dimensions."""
    if not isinstance(arg, dict):
        return False
    name = str(arg["ref"])
    shape = near.shapes[name]
    if shape not in ((size,), (1, size), (size, 1)) or (shape == (size, 1)) != (dim == 0):
        return False
    node = near.find(name)
    while node is not None and node.op in ("reshape", "cast") and node.numel == size:
        node = near.find(node.get_ref("input" if node.op == "reshape" else "0"))
    return node is not None and node.op == "iota" and (node.get_int("start"), node.get_int("step")) == (0, 1)


def find_diagonal(near: Neighbours, name: str) -> str | None:
    """The values along the diagonal of a square matrix that is zero elsewhere; else None."""
    found = read_mask(near, name)
    if found is None:
        return None
    condition, value = found
    shape = near.shapes[name]
    first, second = condition.args["0"], condition.args["1"]
    is_diagonal = (
        len(shape) == 2
        and shape[0] == shape[1]
        and any(
            counts_along(near, one, dim=0, size=shape[0]) and counts_along(near, other, dim=1, size=shape[0])
            for one, other in ((first, second), (second, first))
        )
    )
    is_vector = near.shapes[value] in ((shape[0],), (1, shape[0]), (shape[0], 1))
    return value if is_diagonal and is_vector else None


def scale_by_diagonal(near: Neighbours, node: Node) -> list[Node] | None:
    """diag(d) @ B is B with row i times d[i]; A @ diag(d) is A with column j times d[j].

    Holds for finite operands: a product with 0 * inf would have NaN where the scaling has none.
    """
    if node.op != ops.PRODUCT:
        return None
    for key, other, shape in (("left", "right", (-1, 1)), ("right", "left", (1, -1))):
        diagonal = find_diagonal(near, node.get_ref(key))
        if diagonal is not None:
            size = prod(near.shapes[diagonal])
            wide = (size, 1) if shape == (-1, 1) else (1, size)
            thin = build(
                f"{node.name}_d", "reshape", args={"input": {"ref": diagonal}}, shape=wide, like=node
            )
            return [
                thin,
                point(
                    node.name, "mul", operands=[thin.name, node.get_ref(other)], shape=node.shape, like=node
                ),
            ]
    return None


def find_one_hot(near: Neighbours, name: str) -> JsonValue:
    """The indices of a matrix that has a one in each row, at that index, and zeros elsewhere; else None."""
    mask = near.find(name)
    while mask is not None and mask.op in ("cast", "reshape"):
        mask = near.find(mask.get_ref("0" if mask.op == "cast" else "input"))
    rows, depth = near.shapes[name]
    if mask is None or mask.op != "eq" or mask.shape[-1:] != (depth,) or mask.numel != rows * depth:
        return None
    for index, counter in (("0", "1"), ("1", "0")):
        arg = mask.args[index]
        is_column = isinstance(arg, dict) and near.shapes[str(arg["ref"])] == (*mask.shape[:-1], 1)
        if is_column and counts_along(near, mask.args[counter], dim=1, size=depth):
            return arg
    return None


def pick_by_one_hot(near: Neighbours, node: Node) -> list[Node] | None:
    """one_hot(i) @ B is B[i], or zero where i names no row of B. Holds for finite B."""
    if node.op != ops.PRODUCT or len(node.shape) != 2:
        return None
    rows, depth = near.shapes[node.get_ref("left")]
    index = find_one_hot(near, node.get_ref("left"))
    if not isinstance(index, dict):
        return None
    kind = near.graph.dtypes[str(index["ref"])]
    if ops.LANES[kind] is not ops.Lane.I64:
        return None
    name = node.name
    flat = Node(name=f"{name}_i", op="reshape", args={"input": index}, shape=(rows,), dtype=kind)
    thin = Node(name=f"{name}_j", op="reshape", args={"input": index}, shape=(rows, 1), dtype=kind)
    truth = node.model_copy(update={"dtype": "bool"})
    args: dict[str, JsonValue] = {"input": {"ref": node.get_ref("right")}, "indices": [{"ref": flat.name}]}
    return [
        flat,
        thin,
        point(f"{name}_a", "ge", operands=[thin.name, 0], shape=thin.shape, like=truth),
        point(f"{name}_b", "lt", operands=[thin.name, depth], shape=thin.shape, like=truth),
        point(f"{name}_c", "logical_and", operands=[f"{name}_a", f"{name}_b"], shape=thin.shape, like=truth),
        build(f"{name}_r", "index", args=args, shape=node.shape, like=node),
        point(name, "where", operands=[f"{name}_c", f"{name}_r", 0.0], shape=node.shape, like=node),
    ]


def sum_before_product(near: Neighbours, node: Node) -> list[Node] | None:
    """sum_j (A B)[i, j] is A (sum_j B[:, j]), and sum_i (A B)[i, j] is (sum_i A[i, :]) B.

    Holds up to rounding, because both are the same sum in another order; pays where nobody else reads A B.
    """
    if node.op != "sum":
        return None
    below = near.find(node.get_ref("input"))
    dims = node.get_ints("dims")
    if below is None or below.op != ops.PRODUCT or not near.is_read_once(below.name) or len(dims) != 1:
        return None
    rank, dim = len(below.shape), dims[0]
    if dim not in (rank - 1, rank - 2):
        return None
    key, other = ("right", "left") if dim == rank - 1 else ("left", "right")
    folded, kept = below.get_ref(key), below.get_ref(other)
    shape = near.shapes[folded]
    thin = tuple(1 if place == dim else size for place, size in enumerate(shape))
    total = build(
        f"{node.name}_w", "sum", args={"input": {"ref": folded}, "dims": [dim]},
        shape=shape[:dim] + shape[dim + 1 :], like=node,
    )  # fmt: skip
    again = build(f"{node.name}_t", "reshape", args={"input": {"ref": total.name}}, shape=thin, like=node)
    operands = {key: again.name, other: kept}
    wide = tuple(1 if place == dim else size for place, size in enumerate(below.shape))
    args: dict[str, JsonValue] = {"left": {"ref": operands["left"]}, "right": {"ref": operands["right"]}}
    product = build(f"{node.name}_p", ops.PRODUCT, args=args, shape=wide, like=node)
    back = build(node.name, "reshape", args={"input": {"ref": product.name}}, shape=node.shape, like=node)
    return [total, again, product, back]


def sum_through_scale(near: Neighbours, node: Node) -> list[Node] | None:
    """sum(c x) is c sum(x) for a number c. Holds up to rounding; pays where a product lies beneath."""
    if node.op != "sum":
        return None
    scaled = near.find(node.get_ref("input"))
    if scaled is None or scaled.op != "mul" or not near.is_read_once(scaled.name):
        return None
    for key, other in (("0", "1"), ("1", "0")):
        arg, factor = scaled.args[key], scaled.args[other]
        if isinstance(arg, dict) and isinstance(factor, int | float):
            below = near.find(str(arg["ref"]))
            if below is not None and below.op == ops.PRODUCT:
                total = build(
                    f"{node.name}_s", "sum", args={**node.args, "input": arg}, shape=node.shape, like=node
                )
                return [
                    total,
                    point(node.name, "mul", operands=[total.name, factor], shape=node.shape, like=node),
                ]
    return None


def write_out_thin(near: Neighbours, node: Node) -> list[Node] | None:
    """A product with a single row or column as a sum of products, which fuses with its neighbours.

    Holds up to rounding; pays because such a product only reads its matrix once.
    """
    if node.op != ops.PRODUCT or 1 not in node.shape[-2:]:
        return None
    left, right = node.get_ref("left"), node.get_ref("right")
    batch, (rows, depth), cols = node.shape[:-2], near.shapes[left][-2:], node.shape[-1]
    if rows != 1 and cols != 1:
        return None
    count = len(batch)
    swapped = [*range(count), count + 1, count]
    if cols == 1:
        matrix, vector, lines = left, right, rows
        names: list[Node] = []
    else:
        turned: dict[str, JsonValue] = {"input": {"ref": right}, "dims": [*swapped]}
        names = [build(f"{node.name}_m", "permute", args=turned, shape=(*batch, cols, depth), like=node)]
        matrix, vector, lines = f"{node.name}_m", left, cols
    flat = build(
        f"{node.name}_v", "reshape", args={"input": {"ref": vector}}, shape=(*batch, 1, depth), like=node
    )
    wide = (*batch, lines, depth)
    product = point(f"{node.name}_x", "mul", operands=[matrix, flat.name], shape=wide, like=node)
    args: dict[str, JsonValue] = {"input": {"ref": product.name}, "dims": [count + 1]}
    total = build(f"{node.name}_y", "sum", args=args, shape=wide[:-1], like=node)
    back = build(node.name, "reshape", args={"input": {"ref": total.name}}, shape=node.shape, like=node)
    return [*names, flat, product, total, back]


def merge_products(near: Neighbours, node: Node) -> list[Node] | None:
    """(A B) C is A (B C). Holds up to rounding; pays where that takes at most half the operations."""
    if node.op != ops.PRODUCT or len(node.shape) != 2:
        return None
    inner = near.find(node.get_ref("left"))
    if inner is None or inner.op != ops.PRODUCT or not near.is_read_once(inner.name):
        return None
    a, b, c = inner.get_ref("left"), inner.get_ref("right"), node.get_ref("right")
    rows, depth = near.shapes[a]
    middle, cols = near.shapes[c]
    now, then = rows * middle * (depth + cols), depth * cols * (middle + rows)
    if 2 * then > now:
        return None
    first: dict[str, JsonValue] = {"left": {"ref": b}, "right": {"ref": c}}
    folded = build(f"{node.name}_f", ops.PRODUCT, args=first, shape=(depth, cols), like=node)
    args: dict[str, JsonValue] = {"left": {"ref": a}, "right": {"ref": folded.name}}
    return [folded, build(node.name, ops.PRODUCT, args=args, shape=node.shape, like=node)]


REWRITES: tuple[Rewrite, ...] = (
    scale_by_diagonal,
    pick_by_one_hot,
    sum_through_scale,
    sum_before_product,
    merge_products,
    write_out_thin,
)
"""Every rewrite of products, in the order in which they are tried."""


def rewrite_product(graph: Graph) -> Graph:
    """One rewrite at the first place where one applies; the same graph where none does."""
    near = Neighbours(graph)
    for place, node in enumerate(graph.nodes):
        for rewrite in REWRITES:
            changed = rewrite(near, node)
            if changed is not None:
                nodes = (*graph.nodes[:place], *changed, *graph.nodes[place + 1 :])
                return graph.model_copy(update={"nodes": nodes})
    return graph

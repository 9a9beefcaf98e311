"""Canonical forms of operations that only move elements."""

from pydantic import JsonValue

from cuda_agent.expert.canonical import Draft, UnsupportedError
from cuda_agent.expert.graph import Node


def write_reshape(draft: Draft, node: Node) -> str:
    """view, reshape, squeeze, unsqueeze: the same elements in the same order."""
    return draft.reshape(draft.find(node.args["self"]), node.shape)


def write_same(draft: Draft, node: Node) -> str:
    """clone, contiguous, alias, detach, dropout at inference: the operand itself."""
    return draft.find(node.args["self"] if "self" in node.args else node.args["input"])


def write_expand(draft: Draft, node: Node) -> str:
    """Repeat along dimensions of size one, or new leading ones."""
    name = draft.find(node.args["self"])
    if draft.shapes[name] == node.shape:
        return name
    return draft.add("expand", {"input": {"ref": name}}, shape=node.shape, dtype=node.dtype)


def write_broadcast(draft: Draft, node: Node) -> str:
    """broadcast_in_dim: new dimensions of size one, then repetition."""
    name = draft.find(node.args["a"])
    places = node.get_ints("broadcast_dimensions")
    wide = [1] * len(node.shape)
    for place, size in zip(places, draft.shapes[name], strict=True):
        wide[place] = size
    name = draft.reshape(name, tuple(wide))
    if tuple(wide) == node.shape:
        return name
    return draft.add("expand", {"input": {"ref": name}}, shape=node.shape, dtype=node.dtype)


def write_permute(draft: Draft, node: Node) -> str:
    """Dimensions in another order."""
    name = draft.find(node.args["self"])
    rank = len(draft.shapes[name])
    if "dims" in node.args:
        order = [dim % rank for dim in node.get_ints("dims")]
    else:
        order = list(range(rank))
        if rank > 1:
            first, second = (node.get_int("dim0"), node.get_int("dim1")) if "dim0" in node.args else (0, 1)
            order[first % rank], order[second % rank] = second % rank, first % rank
    if order == list(range(rank)):
        return name
    return draft.add(
        "permute", {"input": {"ref": name}, "dims": [*order]}, shape=node.shape, dtype=node.dtype
    )


def add_slice(draft: Draft, name: str, *, dim: int, start: int, step: int = 1, size: int) -> str:
    """`size` elements along `dim` from `start` on."""
    shape = list(draft.shapes[name])
    if (start, step, size) == (0, 1, shape[dim]):
        return name
    shape[dim] = size
    args: dict[str, JsonValue] = {"input": {"ref": name}, "dim": dim, "start": start, "step": step}
    return draft.add("slice", args, shape=tuple(shape), dtype=draft.dtypes[name])


def write_slice(draft: Draft, node: Node) -> str:
    """Every `step`-th element between start and end."""
    name = draft.find(node.args["self"])
    dim = node.get_int("dim") % len(node.shape)
    size, start = draft.shapes[name][dim], node.args.get("start")
    first = start if isinstance(start, int) else 0
    first = max(0, min(size, first + size if first < 0 else first))
    return add_slice(draft, name, dim=dim, start=first, step=node.get_int("step"), size=node.shape[dim])


def write_select(draft: Draft, node: Node) -> str:
    """One element along a dimension, which disappears."""
    name = draft.find(node.args["self"])
    shape = draft.shapes[name]
    dim, index = node.get_int("dim") % len(shape), node.get_int("index")
    part = add_slice(draft, name, dim=dim, start=index % shape[dim], size=1)
    return draft.reshape(part, node.shape)


def write_part(draft: Draft, node: Node) -> str:
    """An element of a split, a chunk or an unbind."""
    whole, place = draft.get_traced(node.args["0"]), node.get_int("1")
    name = draft.find(whole.args["self"])
    shape = draft.shapes[name]
    dim = whole.get_int("dim") % len(shape)
    if "split_sizes" in whole.args:
        sizes = whole.get_ints("split_sizes")
        return add_slice(draft, name, dim=dim, start=sum(sizes[:place]), size=sizes[place])
    if "unbind" in whole.op:
        return draft.reshape(add_slice(draft, name, dim=dim, start=place, size=1), node.shape)
    if "split_size" in whole.args:
        return add_slice(
            draft, name, dim=dim, start=place * whole.get_int("split_size"), size=node.shape[dim]
        )
    raise UnsupportedError(f"{whole.op} gives several tensors, and I do not know what they are")


def write_cat(draft: Draft, node: Node) -> str:
    """Tensors one after the other along a dimension."""
    tensors = node.args["tensors"]
    assert isinstance(tensors, list)
    return add_cat(draft, [draft.find(item) for item in tensors], dim=node.get_int("dim") % len(node.shape))


def write_gather(draft: Draft, node: Node) -> str:
    """Along one dimension, the element that an index names."""
    name, index = draft.find(node.args["self"]), draft.find(node.args["index"])
    dim = node.get_int("dim") % max(1, len(draft.shapes[name]))
    args: dict[str, JsonValue] = {"input": {"ref": name}, "dim": dim, "index": {"ref": index}}
    return draft.add("gather", args, shape=node.shape, dtype=node.dtype)


def add_permute(draft: Draft, name: str, *, order: list[int]) -> str:
    """Dimensions in another order."""
    if order == list(range(len(order))):
        return name
    shape = tuple(draft.shapes[name][dim] for dim in order)
    args: dict[str, JsonValue] = {"input": {"ref": name}, "dims": [*order]}
    return draft.add("permute", args, shape=shape, dtype=draft.dtypes[name])


def add_index(draft: Draft, name: str, *, picked: dict[int, str]) -> str:
    """Some dimensions picked by index tensors, as indexing in torch places what they give.

    Raises:
        UnsupportedError: an index is a mask.
    """
    if any(draft.dtypes[index] == "bool" for index in picked.values()):
        raise UnsupportedError("indexing by a mask gives a size that depends on the data")
    dims = sorted(picked)
    rest = [dim for dim in range(len(draft.shapes[name])) if dim not in picked]
    front = add_permute(draft, name, order=[*dims, *rest])
    shapes = [draft.shapes[picked[dim]] for dim in dims]
    wide = tuple(max(sizes) for sizes in zip(*pad_shapes(shapes), strict=True))
    shape = (*wide, *(draft.shapes[name][dim] for dim in rest))
    refs: list[JsonValue] = [{"ref": picked[dim]} for dim in dims]
    args: dict[str, JsonValue] = {"input": {"ref": front}, "indices": refs}
    result = draft.add("index", args, shape=shape, dtype=draft.dtypes[name])
    is_together = dims == list(range(dims[0], dims[-1] + 1))
    ahead = [dim for dim in rest if dim < dims[0]] if is_together else []
    order = [len(wide) + place for place in range(len(ahead))] + list(range(len(wide)))
    order += [dim for dim in range(len(shape)) if dim not in order]
    return add_permute(draft, result, order=order)


def pad_shapes(shapes: list[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """Shapes of one rank, for broadcasting."""
    rank = max(len(shape) for shape in shapes)
    return [(1,) * (rank - len(shape)) + shape for shape in shapes]


def write_index(draft: Draft, node: Node) -> str:
    """Dimensions picked by index tensors."""
    indices = node.args["indices"]
    assert isinstance(indices, list)
    picked = {dim: draft.find(item) for dim, item in enumerate(indices) if item is not None}
    return add_index(draft, draft.find(node.args["self"]), picked=picked)


def write_index_select(draft: Draft, node: Node) -> str:
    """One dimension picked by an index tensor."""
    name = draft.find(node.args["self"])
    dim = node.get_int("dim") % len(draft.shapes[name])
    return add_index(draft, name, picked={dim: draft.find(node.args["index"])})


def write_flip(draft: Draft, node: Node) -> str:
    """Some dimensions in reverse order."""
    name = draft.find(node.args["self"])
    shape = draft.shapes[name]
    for dim in node.get_ints("dims"):
        size = shape[dim]
        if size > 1:
            name = add_slice(draft, name, dim=dim % len(shape), start=size - 1, step=-1, size=size)
    return name


def write_repeat(draft: Draft, node: Node) -> str:
    """The whole tensor several times along each dimension."""
    name, times = draft.find(node.args["self"]), node.get_ints("repeats")
    shape = (1,) * (len(times) - len(draft.shapes[name])) + draft.shapes[name]
    thin = tuple(part for size in shape for part in (1, size))
    wide = tuple(part for count, size in zip(times, shape, strict=True) for part in (count, size))
    name = draft.reshape(name, thin)
    if wide != thin:
        name = draft.add("expand", {"input": {"ref": name}}, shape=wide, dtype=node.dtype)
    return draft.reshape(name, node.shape)


def write_embedding(draft: Draft, node: Node) -> str:
    """Rows of a table."""
    table, index = draft.find(node.args["weight"]), draft.find(node.args["indices"])
    args: dict[str, JsonValue] = {"input": {"ref": table}, "indices": [{"ref": index}]}
    return draft.add("index", args, shape=node.shape, dtype=node.dtype)


def add_cat(draft: Draft, parts: list[str], *, dim: int) -> str:
    """Tensors one after the other along a dimension; empty ones are left out."""
    kept = [name for name in parts if 0 not in draft.shapes[name]]
    if len(kept) == 1:
        return kept[0]
    shape = list(draft.shapes[kept[0]])
    shape[dim] = sum(draft.shapes[name][dim] for name in kept)
    refs: list[JsonValue] = [{"ref": name} for name in kept]
    return draft.add("cat", {"inputs": refs, "dim": dim}, shape=tuple(shape), dtype=draft.dtypes[kept[0]])


def write_roll(draft: Draft, node: Node) -> str:
    """Moved along some dimensions, what leaves at one end coming in at the other; all as one without them."""
    name, shifts, dims = draft.find(node.args["self"]), node.get_ints("shifts"), node.get_ints("dims")
    if not dims:
        name, dims = draft.reshape(name, (node.numel,)), (0,)
    for shift, dim in zip(shifts, dims, strict=True):
        place, size = dim % len(draft.shapes[name]), draft.shapes[name][dim]
        at = -shift % size if size else 0
        if at:
            ahead = add_slice(draft, name, dim=place, start=at, size=size - at)
            behind = add_slice(draft, name, dim=place, start=0, size=at)
            name = add_cat(draft, [ahead, behind], dim=place)
    return draft.reshape(name, node.shape)


def write_copy(draft: Draft, node: Node) -> str:
    """The source in the shape and dtype of what it is copied over."""
    name = draft.find(node.args["src"])
    if draft.dtypes[name] != node.dtype:
        name = draft.add("cast", {"0": {"ref": name}}, shape=draft.shapes[name], dtype=node.dtype)
    if draft.shapes[name] == node.shape:
        return name
    return draft.add("expand", {"input": {"ref": name}}, shape=node.shape, dtype=node.dtype)


def write_slice_scatter(draft: Draft, node: Node) -> str:
    """A part along a dimension replaced.

    Raises:
        UnsupportedError: its elements do not lie side by side.
    """
    name, part, dim = draft.find(node.args["self"]), draft.find(node.args["src"]), node.get_int("dim")
    dim %= len(node.shape)
    if node.get_int("step") != 1:
        raise UnsupportedError("replacing every other element is beyond me")
    size, start = node.shape[dim], node.args.get("start")
    first = start if isinstance(start, int) else 0
    first = max(0, min(size, first + size if first < 0 else first))
    end = first + draft.shapes[part][dim]
    pieces = [part]
    if first:
        pieces.insert(0, add_slice(draft, name, dim=dim, start=0, size=first))
    if end < size:
        pieces.append(add_slice(draft, name, dim=dim, start=end, size=size - end))
    return add_cat(draft, pieces, dim=dim)


def write_embedding_bag(draft: Draft, node: Node) -> str:
    """Rows of a table, so many added, averaged or compared for each bag.

    Raises:
        UnsupportedError: the bags are of several sizes, or their rows are weighted.
    """
    table, index = draft.find(node.args["weight"]), draft.find(node.args["indices"])
    offsets = draft.get_traced(node.args["offsets"])
    step, bags = offsets.args.get("step"), node.shape[0]
    is_even = "arange" in offsets.op and isinstance(step, int) and step * bags == draft.shapes[index][0]
    is_plain = node.args.get("per_sample_weights") is None and node.args.get("padding_idx") in (None, -1)
    if not (is_even and is_plain and isinstance(step, int)):
        raise UnsupportedError("bags of several sizes or of weighted rows are beyond me")
    index = draft.reshape(index, (bags, step))
    args: dict[str, JsonValue] = {"input": {"ref": table}, "indices": [{"ref": index}]}
    rows = draft.add("index", args, shape=(bags, step, node.shape[1]), dtype=node.dtype)
    op = "amax" if node.get_int("mode") == 2 else "sum"
    total = draft.reduce(op, rows, dims=(1,), keepdim=False, dtype=node.dtype)
    return draft.point("mul", [total, 1.0 / step], like=node) if node.get_int("mode") == 1 else total

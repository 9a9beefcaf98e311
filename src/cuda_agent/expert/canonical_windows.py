"""Canonical forms of padding, pooling and convolution: windows that slide over the last dimensions."""

from dataclasses import dataclass
from itertools import product
from math import prod

from pydantic import JsonValue

from cuda_agent.expert.canonical import Draft, Rule, UnsupportedError
from cuda_agent.expert.canonical_linear import add_product
from cuda_agent.expert.canonical_views import add_cat, add_permute, add_slice
from cuda_agent.expert.graph import Node

MOST_TAPS = 49
"""A window of more elements than this is not written out element by element."""


MOST_BLOCKS = 16
"""More blocks of several sizes than this along a dimension are not written out one by one."""


@dataclass(frozen=True)
class Window:
    """How windows slide over the last dimensions; one entry for each of them."""

    sizes: tuple[int, ...]
    """Elements of a window."""
    strides: tuple[int, ...]
    """From one window to the next."""
    pads: tuple[int, ...]
    """Elements put before and after."""
    dilations: tuple[int, ...]
    """From one element of a window to the next."""

    def count_windows(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """How many whole windows fit over the padded dimensions."""
        reaches = [
            dilation * (size - 1) + 1 for size, dilation in zip(self.sizes, self.dilations, strict=True)
        ]
        wide = [size + 2 * pad for size, pad in zip(shape[-len(self.sizes) :], self.pads, strict=True)]
        return tuple(
            (size - reach) // stride + 1
            for size, reach, stride in zip(wide, reaches, self.strides, strict=True)
        )


def spread(values: tuple[int, ...], rank: int, *, default: int) -> tuple[int, ...]:
    """One entry for each dimension of a window."""
    if not values:
        return (default,) * rank
    return values if len(values) == rank else values * rank


def read_window(node: Node, rank: int) -> Window:
    """The window of a pooling operation."""
    sizes = spread(node.get_ints("kernel_size"), rank, default=1)
    strides = node.get_ints("stride")
    return Window(
        sizes=sizes,
        strides=spread(strides, rank, default=1) if strides else sizes,
        pads=spread(node.get_ints("padding"), rank, default=0),
        dilations=spread(node.get_ints("dilation"), rank, default=1),
    )


def add_pad(draft: Draft, name: str, *, dim: int, before: int, after: int, value: float) -> str:
    """Elements of one value before and after along a dimension; negative counts take elements away."""
    shape = draft.shapes[name]
    dim %= len(shape)
    if before < 0 or after < 0:
        size = shape[dim] + min(before, 0) + min(after, 0)
        name = add_slice(draft, name, dim=dim, start=max(0, -before), size=size)
        shape = draft.shapes[name]
    dtype = draft.dtypes[name]
    parts = []
    for count, at in ((before, 0), (after, 1)):
        if count > 0:
            wide = (*shape[:dim], count, *shape[dim + 1 :])
            parts.append((at, draft.add("full", {"value": value}, shape=wide, dtype=dtype)))
    if not parts:
        return name
    named = [*(part for at, part in parts if at == 0), name, *(part for at, part in parts if at == 1)]
    total = shape[dim] + max(before, 0) + max(after, 0)
    refs: list[JsonValue] = [{"ref": item} for item in named]
    padded = (*shape[:dim], total, *shape[dim + 1 :])
    return draft.add("cat", {"inputs": refs, "dim": dim}, shape=padded, dtype=dtype)


def write_pad(draft: Draft, node: Node) -> str:
    """constant_pad_nd: pairs of counts, the last dimension's first."""
    name, counts = draft.find(node.args["self"]), node.get_ints("pad")
    value = node.get_number("value")
    for place in range(len(counts) // 2):
        before, after = counts[2 * place : 2 * place + 2]
        name = add_pad(draft, name, dim=-1 - place, before=before, after=after, value=value)
    return name


def pad_window(draft: Draft, name: str, *, window: Window, value: float) -> str:
    """The tensor with what the windows reach beyond its edges."""
    rank = len(window.pads)
    for place, pad in enumerate(window.pads):
        name = add_pad(draft, name, dim=place - rank, before=pad, after=pad, value=value)
    return name


def cut_taps(draft: Draft, name: str, *, window: Window, counts: tuple[int, ...]) -> list[str]:
    """For each element of a window the tensor of what all windows have there.

    Raises:
        UnsupportedError: the window is too large for that.
    """
    if prod(window.sizes) > MOST_TAPS:
        raise UnsupportedError(f"a window of {prod(window.sizes)} elements is beyond me")
    rank, lead = len(counts), len(draft.shapes[name]) - len(counts)
    taps = []
    for tap in product(*(range(size) for size in window.sizes)):
        part = name
        for place in range(rank):
            start, step = tap[place] * window.dilations[place], window.strides[place]
            part = add_slice(draft, part, dim=lead + place, start=start, step=step, size=counts[place])
        taps.append(part)
    return taps


def fold_taps(draft: Draft, op: str, *, taps: list[str], like: Node) -> str:
    """All taps combined, in pairs, so that rounding errors stay small."""
    while len(taps) > 1:
        paired: list[str] = []
        for place in range(0, len(taps) - 1, 2):
            paired.append(draft.point(op, [taps[place], taps[place + 1]], like=like))
        taps = paired + taps[len(taps) - len(taps) % 2 :]
    return taps[0]


def write_avg_pool(rank: int) -> Rule:
    """A rule for the mean over windows."""

    def rule(draft: Draft, node: Node) -> str:
        window = read_window(node, rank)
        whole = node.args.get("divisor_override")
        if any(window.pads) and (node.args.get("count_include_pad") is False and whole is None):
            raise UnsupportedError("a pooling that does not count its padding is beyond me")
        name = draft.find(node.args["self"])
        if window.count_windows(draft.shapes[name]) != node.shape[-rank:]:
            raise UnsupportedError("a pooling with incomplete windows is beyond me")
        padded = pad_window(draft, name, window=window, value=0.0)
        taps = cut_taps(draft, padded, window=window, counts=node.shape[-rank:])
        total = fold_taps(draft, "add", taps=taps, like=node)
        divisor = whole if isinstance(whole, int) else prod(window.sizes)
        return draft.point("mul", [total, 1.0 / divisor], like=node)

    return rule


def write_max_pool(rank: int) -> Rule:
    """A rule for the greatest element of windows."""

    def rule(draft: Draft, node: Node) -> str:
        window = read_window(node, rank)
        name = draft.find(node.args["self"])
        if window.count_windows(draft.shapes[name]) != node.shape[-rank:]:
            raise UnsupportedError("a pooling with incomplete windows is beyond me")
        padded = pad_window(draft, name, window=window, value=float("-inf"))
        taps = cut_taps(draft, padded, window=window, counts=node.shape[-rank:])
        return fold_taps(draft, "maximum", taps=taps, like=node)

    return rule


def write_adaptive_pool(op: str) -> Rule:
    """A rule for the mean or the greatest over blocks that cover the last dimensions."""

    def rule(draft: Draft, node: Node) -> str:
        name, counts = draft.find(node.args["self"]), node.get_ints("output_size")
        sizes = draft.shapes[name][-len(counts) :]
        if any(size % count for size, count in zip(sizes, counts, strict=True)):
            for place in range(len(counts)):
                name = pool_unevenly(draft, name, dim=place - len(counts), count=counts[place], op=op)
            return name
        return pool_evenly(draft, name, counts=counts, op=op)

    return rule


def pool_evenly(draft: Draft, name: str, *, counts: tuple[int, ...], op: str) -> str:
    """Equal blocks of the last dimensions reduced at once."""
    shape, dtype, rank = draft.shapes[name], draft.dtypes[name], len(counts)
    split = [
        part for size, count in zip(shape[-rank:], counts, strict=True) for part in (count, size // count)
    ]
    lead = len(shape) - rank
    dims = tuple(lead + 2 * place + 1 for place in range(rank))
    blocks = draft.reshape(name, (*shape[:lead], *split))
    total = draft.reduce(op, blocks, dims=dims, keepdim=False, dtype=dtype)
    like = Node(name="", op="", args={}, shape=draft.shapes[total], dtype=dtype)
    factor = prod(counts) / prod(shape[-rank:])
    return draft.point("mul", [total, factor], like=like) if op == "sum" else total


def pool_unevenly(draft: Draft, name: str, *, dim: int, count: int, op: str) -> str:
    """Blocks of one dimension that overlap where they must: a mean of means is the mean, as each is even.

    Raises:
        UnsupportedError: there are too many.
    """
    if count > MOST_BLOCKS:
        raise UnsupportedError(f"an adaptive pooling into {count} blocks of several sizes is beyond me")
    shape, dtype = draft.shapes[name], draft.dtypes[name]
    dim %= len(shape)
    parts = []
    for place in range(count):
        start, end = place * shape[dim] // count, -((-(place + 1) * shape[dim]) // count)
        block = add_slice(draft, name, dim=dim, start=start, size=end - start)
        part = draft.reduce(op, block, dims=(dim,), keepdim=True, dtype=dtype)
        like = Node(name="", op="", args={}, shape=draft.shapes[part], dtype=dtype)
        parts.append(draft.point("mul", [part, 1.0 / (end - start)], like=like) if op == "sum" else part)
    return add_cat(draft, parts, dim=dim)


def write_convolution(draft: Draft, node: Node) -> str:
    """A product of the filters with what their windows hold; channel by channel where each has its own."""
    if node.args["transposed"] is True:
        return add_bias(draft, write_transposed(draft, node), node=node)
    name, weight = draft.find(node.args["input"]), draft.find(node.args["weight"])
    sizes = draft.shapes[weight][2:]
    rank = len(sizes)
    window = Window(
        sizes=tuple(sizes),
        strides=spread(node.get_ints("stride"), rank, default=1),
        pads=spread(node.get_ints("padding"), rank, default=0),
        dilations=spread(node.get_ints("dilation"), rank, default=1),
    )
    padded = pad_window(draft, name, window=window, value=0.0)
    return add_bias(draft, convolve(draft, padded, weight=weight, window=window, like=node), node=node)


def add_bias(draft: Draft, name: str, *, node: Node) -> str:
    """Plus one number a channel, where it is given."""
    if node.args.get("bias") is None:
        return name
    bias = draft.find(node.args["bias"])
    bias = draft.reshape(bias, (*draft.shapes[bias], *(1 for _ in node.shape[2:])))
    return draft.point("add", [name, bias], like=node)


def convolve(draft: Draft, name: str, *, weight: str, window: Window, like: Node) -> str:
    """The convolution of what is padded already; `like` gives the result's shape and the groups."""
    filters, depth = draft.shapes[weight][:2]
    is_apart = depth == 1 and filters == like.get_int("groups")
    write = convolve_channels if is_apart else convolve_groups
    return write(draft, name, weight=weight, window=window, like=like)


def convolve_groups(draft: Draft, name: str, *, weight: str, window: Window, like: Node) -> str:
    """Groups of channels, each with filters of its own: one matrix product a sample and group."""
    counts, groups, batch = like.shape[2:], like.get_int("groups"), like.shape[0]
    filters, depth, *sizes = draft.shapes[weight]
    rows, inner = filters // groups, depth * prod(sizes)
    windows = add_windows(draft, name, window=window, counts=counts)
    right = draft.reshape(windows, (batch * groups, inner, prod(counts)))
    thin, wide = (1, groups, rows, inner), (batch, groups, rows, inner)
    left = draft.reshape(weight, thin)
    left = draft.add("expand", {"input": {"ref": left}}, shape=wide, dtype=like.dtype)
    left = draft.reshape(left, (batch * groups, rows, inner))
    return draft.reshape(add_product(draft, left, right=right), like.shape)


def add_windows(draft: Draft, name: str, *, window: Window, counts: tuple[int, ...]) -> str:
    """What windows hold: dimensions of the window's elements, then dimensions of the windows."""
    shape = draft.shapes[name]
    lead = shape[: len(shape) - len(counts)]
    args: dict[str, JsonValue] = {
        "input": {"ref": name},
        "strides": [*window.strides],
        "dilations": [*window.dilations],
    }
    return draft.add("windows", args, shape=(*lead, *window.sizes, *counts), dtype=draft.dtypes[name])


def convolve_channels(draft: Draft, name: str, *, weight: str, window: Window, like: Node) -> str:
    """Each channel with a filter of its own: a sum of products, one for each element of the window."""
    taps = cut_taps(draft, name, window=window, counts=like.shape[2:])
    flat = draft.reshape(weight, (like.shape[1], len(taps)))
    terms = []
    for place, tap in enumerate(taps):
        factor = add_slice(draft, flat, dim=1, start=place, size=1)
        factor = draft.reshape(factor, (like.shape[1],) + (1,) * len(window.sizes))
        terms.append(draft.point("mul", [tap, factor], like=like))
    return fold_taps(draft, "add", taps=terms, like=like)


def write_transposed(draft: Draft, node: Node) -> str:
    """A transposed convolution: for each phase of the stride a plain one with the taps that reach it.

    Output `o`, where `o + padding = stride * q + phase`, is the sum over `m` of
    `x[q - m] * w[phase + stride * m]`.

    Raises:
        UnsupportedError: it has both a stride and a dilation.
    """
    name, weight = draft.find(node.args["input"]), turn_filters(draft, node)
    rank = len(node.shape) - 2
    strides = spread(node.get_ints("stride"), rank, default=1)
    pads = spread(node.get_ints("padding"), rank, default=0)
    dilations = spread(node.get_ints("dilation"), rank, default=1)
    if prod(strides) > 1 and prod(dilations) > 1:
        raise UnsupportedError("a transposed convolution with both stride and dilation is beyond me")
    counts = tuple(
        -(-(pad + size) // step) for pad, size, step in zip(pads, node.shape[2:], strides, strict=True)
    )
    like = node.model_copy(update={"shape": (*node.shape[:2], *counts)})
    found = {
        phase: convolve_phase(draft, name, weight=weight, phase=phase, strides=strides, like=like)
        for phase in product(*(range(step) for step in strides))
    }
    whole = interleave(draft, found, strides=strides)
    for place, pad in enumerate(pads):
        whole = add_slice(draft, whole, dim=2 + place, start=pad, size=node.shape[2 + place])
    return whole


def turn_filters(draft: Draft, node: Node) -> str:
    """The filters of a transposed convolution as those of a plain one: by output, then input channels."""
    weight, groups = draft.find(node.args["weight"]), node.get_int("groups")
    depth, filters, *sizes = draft.shapes[weight]
    split = draft.reshape(weight, (groups, depth // groups, filters, *sizes))
    turned = add_permute(draft, split, order=[0, 2, 1, *range(3, 3 + len(sizes))])
    return draft.reshape(turned, (groups * filters, depth // groups, *sizes))


def convolve_phase(
    draft: Draft, name: str, *, weight: str, phase: tuple[int, ...], strides: tuple[int, ...], like: Node
) -> str:
    """What one phase of the stride gives at every place, from the taps that reach it in reverse order."""
    rank, sizes = len(phase), draft.shapes[weight][2:]
    dilations = spread(like.get_ints("dilation"), rank, default=1)
    taps = tuple(-(-(size - at) // step) for size, at, step in zip(sizes, phase, strides, strict=True))
    if min(taps) < 1:
        return draft.add("full", {"value": 0.0}, shape=like.shape, dtype=like.dtype)
    for place, (at, step, count) in enumerate(zip(phase, strides, taps, strict=True)):
        last = at + step * (count - 1)
        weight = add_slice(draft, weight, dim=2 + place, start=last, step=-step, size=count)
        before = dilations[place] * (count - 1)
        after = like.shape[2 + place] - draft.shapes[name][2 + place]
        name = add_pad(draft, name, dim=2 + place, before=before, after=after, value=0.0)
    window = Window(sizes=taps, strides=(1,) * rank, pads=(0,) * rank, dilations=dilations)
    return convolve(draft, name, weight=weight, window=window, like=like)


def interleave(draft: Draft, found: dict[tuple[int, ...], str], *, strides: tuple[int, ...]) -> str:
    """The phases next to each other in each dimension, from the last dimension to the first."""
    for place in range(len(strides) - 1, -1, -1):
        joined: dict[tuple[int, ...], str] = {}
        for head in dict.fromkeys(phase[:place] for phase in found):
            parts = [found[(*head, at)] for at in range(strides[place])]
            shape, dim = draft.shapes[parts[0]], 2 + place
            thin = (*shape[: dim + 1], 1, *shape[dim + 1 :])
            whole = add_cat(draft, [draft.reshape(part, thin) for part in parts], dim=dim + 1)
            wide = (*shape[:dim], shape[dim] * strides[place], *shape[dim + 1 :])
            joined[head] = draft.reshape(whole, wide)
        found = joined
    return found[()]

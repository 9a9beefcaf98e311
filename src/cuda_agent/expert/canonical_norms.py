"""Canonical forms of normalisations that ATen keeps whole."""

from math import prod

from pydantic import JsonValue

from cuda_agent.expert.canonical import Draft
from cuda_agent.expert.graph import Node


def build_like(shape: tuple[int, ...], dtype: str) -> Node:
    """A pattern for the shape and dtype of pointwise nodes."""
    return Node(name="", op="", args={}, shape=shape, dtype=dtype)


def shift_and_scale(draft: Draft, name: str, *, node: Node) -> str:
    """Times weight, plus bias, one of each for a channel (dimension 1), as far as they are given."""
    shape = draft.shapes[name]
    for key, op in (("weight", "mul"), ("bias", "add")):
        if node.args.get(key) is not None:
            factor = draft.reshape(draft.find(node.args[key]), (shape[1],) + (1,) * (len(shape) - 2))
            name = draft.point(op, [name, factor], like=build_like(shape, node.dtype))
    return name


def write_group_norm(draft: Draft, node: Node) -> str:
    """Each group of channels of each sample to mean 0 and variance 1, then weight and bias a channel."""
    name, groups = draft.find(node.args["input"]), node.get_int("group")
    shape, dtype = draft.shapes[name], node.dtype
    count = prod(shape[1:]) // groups
    rows = build_like((shape[0], groups, count), dtype)
    thin = build_like((shape[0], groups, 1), dtype)
    x = draft.reshape(name, rows.shape)

    def average(value: str) -> str:
        total = draft.reduce("sum", value, dims=(2,), keepdim=True, dtype=dtype)
        return draft.point("mul", [total, 1.0 / count], like=thin)

    distance = draft.point("sub", [x, average(x)], like=rows)
    spread = average(draft.point("mul", [distance, distance], like=rows))
    moved = draft.point("add", [spread, node.get_number("eps")], like=thin)
    scale = draft.point("rsqrt", [moved], like=thin)
    normal = draft.reshape(draft.point("mul", [distance, scale], like=rows), shape)
    return shift_and_scale(draft, normal, node=node)


def write_live_norm(draft: Draft, node: Node) -> str:
    """Each channel to mean 0 and variance 1 by its own statistics, then weight and bias a channel."""
    name, dtype = draft.find(node.args["input"]), node.dtype
    shape = draft.shapes[name]
    dims = (0, *range(2, len(shape)))
    count = prod(shape) // shape[1]
    wide, thin = build_like(shape, dtype), build_like((1, shape[1]) + (1,) * (len(shape) - 2), dtype)

    def average(value: str) -> str:
        total = draft.reduce("sum", value, dims=dims, keepdim=True, dtype=dtype)
        return draft.point("mul", [total, 1.0 / count], like=thin)

    distance = draft.point("sub", [name, average(name)], like=wide)
    spread = average(draft.point("mul", [distance, distance], like=wide))
    scale = draft.point("rsqrt", [draft.point("add", [spread, node.get_number("eps")], like=thin)], like=thin)
    normal = draft.point("mul", [distance, scale], like=wide)
    return shift_and_scale(draft, normal, node=node)


def write_batch_norm(draft: Draft, node: Node) -> str:
    """At inference: minus the running mean, over the running deviation, a channel; then weight and bias."""
    name = draft.find(node.args["input"])
    shape, dtype = draft.shapes[name], node.dtype
    wide, thin = build_like(shape, dtype), build_like((shape[1],) + (1,) * (len(shape) - 2), dtype)
    mean = draft.reshape(draft.find(node.args["running_mean"]), thin.shape)
    variance = draft.reshape(draft.find(node.args["running_var"]), thin.shape)
    eps: JsonValue = node.get_number("eps")
    scale = draft.point("rsqrt", [draft.point("add", [variance, eps], like=thin)], like=thin)
    normal = draft.point("mul", [draft.point("sub", [name, mean], like=wide), scale], like=wide)
    return shift_and_scale(draft, normal, node=node)

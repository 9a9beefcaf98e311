"""Nested values with tensors in them, as a typed description and a flat list of tensors.

A description travels as JSON; the tensors' bytes travel in a mailbox, one after another in the order
of the description, each at a 256-byte boundary. Both sides compute that layout themselves, so no
offset that the other side claims is ever used.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from enum import StrEnum

import torch

from cuda_agent.config import Record

_ALIGNMENT_BYTES = 256
_MAX_DEPTH = 16

DTYPES: dict[str, torch.dtype] = {
    str(dtype).removeprefix("torch."): dtype
    for dtype in (
        torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.complex64, torch.complex128,
        torch.int8, torch.int16, torch.int32, torch.int64, torch.uint8, torch.bool,
        torch.uint16, torch.uint32, torch.uint64, torch.float8_e4m3fn, torch.float8_e5m2,
    )
}  # fmt: skip
"""Every dtype that may cross, by its name."""


class NodeKind(StrEnum):
    """What one place in a nested value holds."""

    TENSOR = "tensor"
    """A plain tensor."""
    SCALAR = "scalar"
    """None, a bool, an int, a float or a string."""
    LIST = "list"
    """A list of places."""
    TUPLE = "tuple"
    """A tuple or a named tuple of places."""
    DICT = "dict"
    """A dict with string keys."""


class Node(Record):
    """One place in a nested value."""

    kind: NodeKind
    """What it holds."""
    shape: tuple[int, ...] = ()
    """A tensor's shape."""
    dtype: str = ""
    """A tensor's dtype, a key of DTYPES."""
    scalar: bool | int | float | str | None = None
    """A scalar's value."""
    keys: tuple[str, ...] = ()
    """A dict's keys, in order."""
    children: tuple["Node", ...] = ()
    """What a list, tuple or dict holds."""

    @property
    def nbytes(self) -> int:
        """Bytes of this tensor's values (0 for anything else)."""
        if self.kind is not NodeKind.TENSOR:
            return 0
        return math.prod(self.shape) * DTYPES[self.dtype].itemsize

    def list_tensors(self) -> list["Node"]:
        """Every tensor below, in layout order."""
        if self.kind is NodeKind.TENSOR:
            return [self]
        return [leaf for child in self.children for leaf in child.list_tensors()]


class UnsupportedValueError(ValueError):
    """A value that cannot cross: says where it is and what it is."""


def describe_value(value: object, *, path: str = "value", depth: int = 0) -> tuple[Node, list[torch.Tensor]]:
    """Describe a nested value and list its tensors in layout order.

    Raises:
        UnsupportedValueError: something in it is neither a plain tensor, nor a scalar, list, tuple or dict.
    """
    if depth > _MAX_DEPTH:
        raise UnsupportedValueError(f"{path} is nested deeper than {_MAX_DEPTH} levels")
    if type(value) is torch.Tensor or type(value) is torch.nn.Parameter:
        return _describe_tensor(value, path), [value]
    if value is None or type(value) in (bool, int, float, str):
        return Node(kind=NodeKind.SCALAR, scalar=value), []  # type: ignore[arg-type]
    if isinstance(value, dict):
        if not all(type(key) is str for key in value):
            raise UnsupportedValueError(f"{path} is a dict with keys that are not strings")
        keys = tuple(value)
        children = [describe_value(value[key], path=f"{path}[{key!r}]", depth=depth + 1) for key in keys]
        return _join(NodeKind.DICT, children, keys=keys)
    if isinstance(value, list | tuple | torch.Size):
        kind = NodeKind.LIST if isinstance(value, list) else NodeKind.TUPLE
        children = [
            describe_value(item, path=f"{path}[{i}]", depth=depth + 1) for i, item in enumerate(value)
        ]
        return _join(kind, children, keys=())
    raise UnsupportedValueError(f"{path} is a {type(value).__name__}, which is not a plain tensor or scalar")


def build_value(node: Node, tensors: Sequence[torch.Tensor]) -> object:
    """The nested value that a description and its tensors stand for."""
    return _build(node, iter(tensors))


def map_tensors(value: object, change: Callable[[torch.Tensor], torch.Tensor]) -> object:
    """The same nested value with every tensor changed."""
    node, tensors = describe_value(value)
    return build_value(node, [change(tensor) for tensor in tensors])


def compute_offsets(tensors: Sequence[Node]) -> tuple[list[int], int]:
    """Byte offset of each tensor in a mailbox, and the bytes they need in all."""
    offsets, end = [], 0
    for tensor in tensors:
        offsets.append(end)
        end += -(-tensor.nbytes // _ALIGNMENT_BYTES) * _ALIGNMENT_BYTES
    return offsets, end


def _build(node: Node, remaining: Iterator[torch.Tensor]) -> object:
    if node.kind is NodeKind.TENSOR:
        return next(remaining)
    if node.kind is NodeKind.SCALAR:
        return node.scalar
    children = [_build(child, remaining) for child in node.children]
    if node.kind is NodeKind.DICT:
        return dict(zip(node.keys, children, strict=True))
    return children if node.kind is NodeKind.LIST else tuple(children)


def _describe_tensor(tensor: torch.Tensor, path: str) -> Node:
    dtype = str(tensor.dtype).removeprefix("torch.")
    if dtype not in DTYPES:
        raise UnsupportedValueError(f"{path} has dtype {tensor.dtype}, which is not supported")
    if tensor.layout is not torch.strided or tensor.device.type == "meta":
        raise UnsupportedValueError(f"{path} is not a dense tensor ({tensor.layout}, {tensor.device})")
    return Node(kind=NodeKind.TENSOR, shape=tuple(tensor.shape), dtype=dtype)


def _join(
    kind: NodeKind, children: Sequence[tuple[Node, list[torch.Tensor]]], *, keys: tuple[str, ...]
) -> tuple[Node, list[torch.Tensor]]:
    node = Node(kind=kind, keys=keys, children=tuple(child for child, _ in children))
    return node, [tensor for _, tensors in children for tensor in tensors]

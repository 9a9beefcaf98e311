"""A traced module as data: what comes out of the sandbox. Knows nothing of torch."""

from collections.abc import Mapping
from enum import StrEnum
from functools import cached_property
from math import prod
from typing import Any, Self

from pydantic import JsonValue

from cuda_agent.config import Record


class Origin(StrEnum):
    """Where a tensor that the graph reads comes from."""

    INPUT = "input"
    """An argument of `forward`."""
    PARAMETER = "parameter"
    """A parameter of the module."""
    BUFFER = "buffer"
    """A buffer of the module."""
    CONSTANT = "constant"
    """A tensor attribute that the state dict does not know."""


class Source(Record):
    """A tensor that the graph reads."""

    name: str
    """The node's name."""
    origin: Origin
    """Where it comes from."""
    path: str
    """A Python expression over forward's arguments (`x`, `pair[0]`), or the dotted path in the module."""
    shape: tuple[int, ...]
    """Its sizes."""
    dtype: str
    """Its dtype without the `torch.` prefix."""
    persistent: bool = True
    """Whether the state dict holds it (buffers only)."""
    values: tuple[float, ...] | None = None
    """Its elements, for small constants."""


class Node(Record):
    """One operation. A reference to another node or source is `{"ref": name}` wherever it stands."""

    name: str
    """Unique in the graph."""
    op: str
    """Its operation: `aten.add.Tensor` as traced, a word of `ops.py` once canonical."""
    args: dict[str, JsonValue]
    """Every argument by name, defaults filled in."""
    shape: tuple[int, ...]
    """Sizes of the result."""
    dtype: str
    """dtype of the result without the `torch.` prefix; empty when it is not a tensor."""

    @property
    def numel(self) -> int:
        """Elements of the result."""
        return prod(self.shape)

    def get_refs(self) -> tuple[str, ...]:
        """Names of the nodes it reads, in order, with repetitions."""
        return tuple(find_refs(list(self.args.values())))

    def get_ref(self, key: str) -> str:
        """Name of the node given as argument `key`."""
        return find_refs([self.args[key]])[0]

    def get_int(self, key: str) -> int:
        """Argument `key`, an int."""
        value = self.args[key]
        assert isinstance(value, int), f"{self.name}: {key} is not an int"
        return value

    def get_ints(self, key: str) -> tuple[int, ...]:
        """Argument `key`, a list of ints; an int alone counts as one, None as none."""
        value = self.args.get(key)
        if value is None:
            return ()
        items = value if isinstance(value, list) else [value]
        return tuple(item for item in items if isinstance(item, int))

    def get_number(self, key: str) -> float | int | bool:
        """Argument `key`, a number."""
        value = self.args[key]
        assert isinstance(value, int | float), f"{self.name}: {key} is not a number"
        return value


class Graph(Record):
    """A traced module."""

    sources: tuple[Source, ...]
    """What it reads."""
    nodes: tuple[Node, ...]
    """Its operations, each after those it reads."""
    outputs: tuple[str, ...]
    """Names of the nodes it returns, in order."""
    structure: str
    """The returned structure as a format string over the outputs: `{0}`, `({0}, {1},)`."""
    holders: tuple[Source, ...] = ()
    """Every parameter and buffer of the module, read or not."""

    @cached_property
    def known(self) -> dict[str, Node]:
        """Every node, by name."""
        return {node.name: node for node in self.nodes}

    @cached_property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Sizes of every source and node, by name."""
        sizes = {source.name: source.shape for source in self.sources}
        return sizes | {node.name: node.shape for node in self.nodes}

    @cached_property
    def dtypes(self) -> dict[str, str]:
        """The dtype of every source and node, by name."""
        kinds = {source.name: source.dtype for source in self.sources}
        return kinds | {node.name: node.dtype for node in self.nodes}

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """A copy, which looks its nodes up anew."""
        copied = super().model_copy(update=update, deep=deep)
        for name in ("known", "shapes", "dtypes"):
            copied.__dict__.pop(name, None)
        return copied


class TraceReply(Record):
    """What the tracing program prints: a graph, or why there is none."""

    graph: Graph | None = None
    """The graph, when tracing worked."""
    reason: str = ""
    """One sentence; empty when tracing worked."""


def find_refs(value: JsonValue) -> list[str]:
    """Names referred to anywhere in an argument, in order."""
    if isinstance(value, dict):
        name = value.get("ref")
        return [name] if isinstance(name, str) else []
    if isinstance(value, list):
        return [name for item in value for name in find_refs(item)]
    return []


def replace_refs(value: JsonValue, names: dict[str, str]) -> JsonValue:
    """The argument with every reference renamed that `names` knows."""
    if isinstance(value, dict) and isinstance(ref := value.get("ref"), str):
        return {"ref": names.get(ref, ref)}
    if isinstance(value, list):
        return [replace_refs(item, names) for item in value]
    return value

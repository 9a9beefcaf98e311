"""The steps of one kernel while they are written: what every rule of lowering shares."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from cuda_agent.expert.domain import Domain
from cuda_agent.expert.graph import Graph, Node
from cuda_agent.expert.index import Affine, join_index, split_index
from cuda_agent.expert.ops import LANES, Lane
from cuda_agent.expert.plan import Access, Level, Value

Index = tuple[Affine, ...]
"""One affine expression for each dimension."""


class CutError(Exception):
    """A node cannot be computed inside this kernel: it must be in memory first."""

    def __init__(self, node: str, why: str) -> None:
        """Name the node, and say why for the reader."""
        super().__init__(f"{node}: {why}")
        self.node = node


class PieceError(Exception):
    """A counter's range must be divided, because an expression changes its form there."""

    def __init__(self, counter: int, at: int) -> None:
        """Divide the dimension of `counter` at element `at`."""
        super().__init__(f"divide counter {counter} at {at}")
        self.counter = counter
        self.at = at


@dataclass(frozen=True)
class Place:
    """The element of a node that is wanted."""

    index: Index
    """Its index."""
    piece: int
    """The piece of the row in which it is wanted."""
    is_root: bool = False
    """Whether it is to be computed even though it has a buffer, because this kernel fills that."""


class LoweringRule(Protocol):
    """A way to write one kind of node."""

    def __call__(self, lowering: "Lowering", node: Node, *, place: Place) -> int:
        """Write the node at one place, and return the number of its value."""
        ...


class Lowering:
    """The steps of one kernel while they are written; equal steps are written once."""

    def __init__(
        self, graph: Graph, domain: Domain, *, stored: Mapping[str, str], rules: Mapping[str, LoweringRule]
    ) -> None:
        """`stored` gives the buffer of every source and of every node that is in memory already."""
        self.domain = domain
        self.stored = stored
        self.values: list[Value] = []
        self.shapes = graph.shapes
        self._dtypes = graph.dtypes
        self._nodes = graph.known
        self._rules = rules
        self._pick_sizes: dict[int, int] = {}
        self._seen: dict[Value, int] = {}
        self._done: dict[tuple[str, Place], int] = {}

    def lower(self, name: str, place: Place) -> int:
        """The number of the value that is element `place` of node `name`."""
        key = (name, place)
        if key not in self._done:
            is_stored = name in self.stored and not place.is_root
            if is_stored or name not in self._nodes:  # the latter is a source that is returned as it is
                position = join_index(place.index, self.shapes[name])
                self._done[key] = self.load(name, position, piece=place.piece)
            else:
                node = self._nodes[name]
                self._done[key] = self._rules[node.op](self, node, place=place)
        return self._done[key]

    def get_sizes(self, piece: int) -> dict[int, int]:
        """How far every counter, and every pick, counts."""
        return self.domain.get_sizes(piece) | self._pick_sizes

    def get_levels(self, numbers: list[int]) -> list[Level]:
        """How often some values are computed."""
        return [self.values[number].level for number in numbers]

    def add(self, value: Value) -> int:
        """The number of a step, which is new unless an equal one exists."""
        if value not in self._seen:
            self._seen[value] = len(self.values)
            self.values.append(value)
        return self._seen[value]

    def add_literal(self, number: float | int | bool, lane: Lane) -> int:
        """A number as a value."""
        typed = {Lane.BOOL: bool, Lane.I64: int}.get(lane, float)(number)
        return self.add(Value(op="literal", lane=lane, level=Level.ONCE, literal=typed))

    def add_pick(self, number: int, bound: int) -> Affine:
        """A value as an index below `bound`: a counter of its own."""
        value = self.values[number]
        picked = self.add(
            Value(op="pick", args=(number,), lane=Lane.I64, level=value.level, loop=value.loop, literal=bound)
        )
        self._pick_sizes[-picked - 1] = bound
        return Affine(0, ((-picked - 1, 1),))

    def convert(self, number: int, lane: Lane) -> int:
        """The same value in another lane."""
        value = self.values[number]
        if value.lane is lane:
            return number
        if value.op == "literal" and value.literal is not None:
            return self.add_literal(value.literal, lane)
        return self.add(Value(op="cast", args=(number,), lane=lane, level=value.level, loop=value.loop))

    def load(self, name: str, position: Affine, *, piece: int) -> int:
        """The element of a source or stored node at a row-major position."""
        return self._add_access(
            "load", self.stored[name], position=position, lane=LANES[self._dtypes[name]], piece=piece
        )

    def count(self, position: Affine, *, piece: int) -> int:
        """An affine number as a value."""
        return self._add_access("index", "", position=position, lane=Lane.I64, piece=piece)

    def _add_access(self, op: str, buffer: str, *, position: Affine, lane: Lane, piece: int) -> int:
        access = Access(
            buffer=buffer,
            offset=position.const,
            terms=tuple(term for term in position.terms if term[0] >= 0),
            picks=tuple((-counter - 1, c) for counter, c in position.terms if counter < 0),
        )
        levels = self.get_levels([number for number, _ in access.picks])
        loop = 0
        if Level.FULL in levels or any(self.domain.is_column(counter) for counter, _ in access.terms):
            level, loop = Level.FULL, self.domain.loops.index(self.domain.pieces[piece][1])
        else:
            level = Level.ROW if access.terms or Level.ROW in levels else Level.ONCE
        return self.add(Value(op=op, lane=lane, level=level, loop=loop, access=access))

    def locate(self, shape: tuple[int, ...], piece: int, *, is_row: bool) -> Index:
        """The index, into a tensor as large as the domain (or as its rows), of the element at hand."""
        position, order = self.domain.locate_row(), self.domain.order
        sizes = self.get_sizes(piece)
        if not is_row:
            position = position.scale(self.domain.row_extent) + self.domain.locate_column(piece)
        if is_row or not order or len(order) != len(shape):
            return split_index(position, shape, sizes=sizes)
        arranged = split_index(position, tuple(shape[dim] for dim in order), sizes=sizes)
        return tuple(arranged[order.index(dim)] for dim in range(len(shape)))

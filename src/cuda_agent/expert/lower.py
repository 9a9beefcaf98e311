"""Write a node of the graph as steps of one kernel, by following it down to memory."""

from collections.abc import Mapping
from dataclasses import dataclass

from cuda_agent.expert import ops
from cuda_agent.expert.domain import Domain
from cuda_agent.expert.graph import Graph, Node, find_refs
from cuda_agent.expert.index import (
    Affine,
    IrregularError,
    join_index,
    split_index,
)
from cuda_agent.expert.ops import LANES, Lane
from cuda_agent.expert.plan import Access, Level, Value

HOIST_FACTOR = 4
"""A dear value this many times smaller than the kernel's domain is computed once, in a kernel of its own."""

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

    def __init__(self, counter: int, at: int, node: str) -> None:
        """Divide the dimension of `counter` at element `at`; `node` is the concatenation that asks for it."""
        super().__init__(f"divide counter {counter} at {at}")
        self.counter = counter
        self.at = at
        self.node = node


@dataclass(frozen=True)
class Place:
    """The element of a node that is wanted."""

    index: Index
    """Its index."""
    piece: int
    """The piece of the row in which it is wanted."""


class Lowering:
    """The steps of one kernel while they are written; equal steps are written once."""

    def __init__(self, graph: Graph, domain: Domain, stored: Mapping[str, str]) -> None:
        """`stored` gives the buffer of every source and of every node that is in memory already."""
        self.domain = domain
        self.values: list[Value] = []
        self.nodes_used: dict[str, None] = {}
        self._nodes = {node.name: node for node in graph.nodes}
        self._shapes = {source.name: source.shape for source in graph.sources}
        self._dtypes = {source.name: source.dtype for source in graph.sources}
        self._shapes |= {node.name: node.shape for node in graph.nodes}
        self._dtypes |= {node.name: node.dtype for node in graph.nodes}
        self._stored = stored
        self._pick_sizes: dict[int, int] = {}
        self._seen: dict[Value, int] = {}
        self._done: dict[tuple[str, Place], int] = {}

    def lower(self, name: str, place: Place, *, is_root: bool = False) -> int:
        """The number of the value that is element `place` of node `name`."""
        key = (name, place)
        if key not in self._done:
            self._done[key] = self._lower_anew(name, place, is_root)
        return self._done[key]

    def get_sizes(self, piece: int) -> dict[int, int]:
        """How far every counter, and every pick, counts."""
        return self.domain.get_sizes(piece) | self._pick_sizes

    def add(self, value: Value) -> int:
        """The number of a step, which is new unless an equal one exists."""
        if value not in self._seen:
            self._seen[value] = len(self.values)
            self.values.append(value)
        return self._seen[value]

    def convert(self, number: int, lane: Lane) -> int:
        """The same value in another lane."""
        value = self.values[number]
        if value.lane is lane:
            return number
        if value.op == "literal" and value.literal is not None:
            return self._add_literal(value.literal, lane)
        return self.add(Value(op="cast", args=(number,), lane=lane, level=value.level, loop=value.loop))

    def _lower_anew(self, name: str, place: Place, is_root: bool) -> int:
        if name in self._stored and not is_root:
            return self._lower_load(name, join_index(place.index, self._shapes[name]), place)
        node = self._nodes[name]
        self.nodes_used[f"{node.op} {name}"] = None
        if node.op in ops.POINTWISE:
            return self._lower_point(node, place, is_root)
        if node.op in ops.REDUCTIONS:
            return self._lower_reduction(node, place)
        rules = {
            "full": self._lower_full, "iota": self._lower_iota, "reshape": self._lower_reshape,
            "expand": self._lower_expand, "permute": self._lower_permute, "slice": self._lower_slice,
            "cat": self._lower_cat, "index": self._lower_index, "gather": self._lower_gather,
        }  # fmt: skip
        return rules[node.op](node, place)

    def _lower_load(self, name: str, position: Affine, place: Place) -> int:
        access = Access(
            buffer=self._stored[name],
            offset=position.const,
            terms=tuple(term for term in position.terms if term[0] >= 0),
            picks=tuple((-counter - 1, c) for counter, c in position.terms if counter < 0),
        )
        levels = [self.values[number].level for number, _ in access.picks]
        level, loop = self._find_level(position, levels, place.piece)
        return self.add(
            Value(op="load", lane=LANES[self._dtypes[name]], level=level, loop=loop, access=access)
        )

    def _find_level(self, position: Affine, levels: list[Level], piece: int) -> tuple[Level, int]:
        counters = [counter for counter, _ in position.terms if counter >= 0]
        if Level.FULL in levels or any(self.domain.is_column(counter) for counter in counters):
            return Level.FULL, self.domain.loops.index(self.domain.pieces[piece][1])
        return (Level.ROW if counters or Level.ROW in levels else Level.ONCE), 0

    def _add_literal(self, number: float | int | bool, lane: Lane) -> int:
        typed = {Lane.BOOL: bool, Lane.I64: int}.get(lane, float)(number)
        return self.add(Value(op="literal", lane=lane, level=Level.ONCE, literal=typed))

    def _lower_full(self, node: Node, place: Place) -> int:
        return self._add_literal(node.get_number("value"), LANES[node.dtype])

    def _lower_iota(self, node: Node, place: Place) -> int:
        position = place.index[0].scale(node.get_int("step")) + Affine(node.get_int("start"))
        level, loop = self._find_level(position, [], place.piece)
        terms = tuple(term for term in position.terms if term[0] >= 0)
        picks = tuple((-counter - 1, c) for counter, c in position.terms if counter < 0)
        access = Access(buffer="", offset=position.const, terms=terms, picks=picks)
        return self.add(Value(op="index", lane=Lane.I64, level=level, loop=loop, access=access))

    # Pointwise operations

    def _lower_point(self, node: Node, place: Place, is_root: bool) -> int:
        numbers, names = [], []
        for arg in node.args.values():
            if isinstance(arg, int | float):
                lane = Lane.BOOL if isinstance(arg, bool) else Lane.I64 if isinstance(arg, int) else Lane.F32
                numbers.append(self._add_literal(arg, lane))
                names.append("")
            else:
                name = find_refs([arg])[0]
                numbers.append(self.lower(name, Place(self._narrow(name, place.index), place.piece)))
                names.append(name)
        lane = LANES[node.dtype]
        lanes = self._find_operand_lanes(node.op, lane, numbers)
        numbers = [self.convert(number, want) for number, want in zip(numbers, lanes, strict=True)]
        if node.op == "cast":
            return self.convert(numbers[0], lane)
        level, loop = self._join_levels(node, numbers, names)
        total = self.domain.rows * self.domain.row_extent
        dear = ops.POINTWISE[node.op] >= ops.DEAR and node.numel * HOIST_FACTOR <= total
        if dear and level is Level.FULL and not is_root:
            raise CutError(node.name, "dear, and needed many times over")
        return self.add(Value(op=node.op, args=tuple(numbers), lane=lane, level=level, loop=loop))

    def _find_operand_lanes(self, op: str, lane: Lane, numbers: list[int]) -> list[Lane]:
        own = [self.values[number].lane for number in numbers]
        if op == "cast":
            return own
        if op == "where":
            return [Lane.BOOL, lane, lane]
        if op in ops.COMPARISONS:
            tensors = [own[k] for k, number in enumerate(numbers) if self.values[number].op != "literal"]
            fractional = [held for held in own if held in (Lane.F32, Lane.F64)]
            common = ops.find_common_lane(tensors or own)
            is_whole = common in (Lane.BOOL, Lane.I64)
            return [ops.find_common_lane([common, *fractional]) if is_whole else common] * len(own)
        return [lane] * len(own)

    def _join_levels(self, node: Node, numbers: list[int], names: list[str]) -> tuple[Level, int]:
        levels = [self.values[number].level for number in numbers]
        if Level.FINAL in levels:
            if Level.ROW in levels or Level.FULL in levels:
                raise CutError(names[levels.index(Level.FINAL)], "known only after the last row")
            return Level.FINAL, 0
        if Level.FULL in levels:
            return Level.FULL, self.values[numbers[levels.index(Level.FULL)]].loop
        return (Level.ROW if Level.ROW in levels else Level.ONCE), 0

    # Views

    def _narrow(self, name: str, index: Index) -> Index:
        """The index into an operand that is broadcast: sizes of one have index zero."""
        shape = self._shapes[name]
        tail = index[len(index) - len(shape) :] if shape else ()
        return tuple(Affine() if size == 1 else part for part, size in zip(tail, shape, strict=True))

    def _lower_reshape(self, node: Node, place: Place) -> int:
        name = node.get_ref("input")
        position = join_index(place.index, node.shape)
        if name in self._stored:
            return self._lower_load(name, position, place)
        try:
            index = split_index(position, self._shapes[name], self.get_sizes(place.piece))
        except IrregularError as error:
            raise CutError(name, "its reshape is irregular") from error
        return self.lower(name, Place(index, place.piece))

    def _lower_expand(self, node: Node, place: Place) -> int:
        name = node.get_ref("input")
        return self.lower(name, Place(self._narrow(name, place.index), place.piece))

    def _lower_permute(self, node: Node, place: Place) -> int:
        index = [Affine()] * len(node.shape)
        for part, dim in zip(place.index, node.get_ints("dims"), strict=True):
            index[dim] = part
        return self.lower(node.get_ref("input"), Place(tuple(index), place.piece))

    def _lower_slice(self, node: Node, place: Place) -> int:
        index, dim = list(place.index), node.get_int("dim")
        index[dim] = index[dim].scale(node.get_int("step")) + Affine(node.get_int("start"))
        return self.lower(node.get_ref("input"), Place(tuple(index), place.piece))

    def _lower_cat(self, node: Node, place: Place) -> int:
        dim, part = node.get_int("dim"), place.index[node.get_int("dim")]
        low, high = part.find_bounds(self.get_sizes(place.piece))
        start = 0
        for name in find_refs([node.args["inputs"]]):
            end = start + self._shapes[name][dim]
            if start <= low < end:
                if high >= end:
                    raise self._divide(node, part, end, place.piece)
                moved = (*place.index[:dim], part + Affine(-start), *place.index[dim + 1 :])
                return self.lower(name, Place(moved, place.piece))
            start = end
        raise AssertionError("an index lies outside its concatenation")

    def _divide(self, node: Node, part: Affine, end: int, piece: int) -> Exception:
        """What to do where a concatenation changes over within one loop."""
        if len(part.terms) != 1 or part.terms[0][1] != 1 or part.terms[0][0] < 0:
            return CutError(node.name, "its parts meet inside a merged dimension")
        counter, inner = part.terms[0][0], len(self.domain.outer) + len(self.domain.cols) - 1
        if counter == inner:
            return PieceError(counter, end - part.const + self.domain.pieces[piece][0], node.name)
        if self.domain.is_column(counter):
            return CutError(node.name, "its parts meet in an outer column dimension")
        return PieceError(counter, end - part.const + self.domain.outer[counter].start, node.name)

    def _pick(self, name: str, place: Place, bound: int) -> Affine:
        """An index that is read from memory, as a counter of its own; affine where the index itself is."""
        number = self.convert(self.lower(name, place), Lane.I64)
        value = self.values[number]
        if value.op == "index" and value.access is not None and not value.access.picks:
            return Affine(value.access.offset, value.access.terms)
        picked = self.add(
            Value(op="pick", args=(number,), lane=Lane.I64, level=value.level, loop=value.loop, literal=bound)
        )
        self._pick_sizes[-picked - 1] = bound
        return Affine(0, ((-picked - 1, 1),))

    def _lower_index(self, node: Node, place: Place) -> int:
        name, indices = node.get_ref("input"), find_refs([node.args["indices"]])
        shape = self._shapes[name]
        rank = max(len(self._shapes[index]) for index in indices)
        head = place.index[:rank]
        picked = [
            self._pick(index, Place(self._narrow(index, head), place.piece), size)
            for index, size in zip(indices, shape, strict=False)
        ]
        return self.lower(name, Place((*picked, *place.index[rank:]), place.piece))

    def _lower_gather(self, node: Node, place: Place) -> int:
        name, dim = node.get_ref("input"), node.get_int("dim")
        picked = self._pick(node.get_ref("index"), place, self._shapes[name][dim])
        index = (*place.index[:dim], picked, *place.index[dim + 1 :])
        return self.lower(name, Place(index, place.piece))

    # Reductions

    def _lower_reduction(self, node: Node, place: Place) -> int:
        name = node.get_ref("input")
        shape, over = self._shapes[name], node.get_ints("dims")
        reduced = tuple(shape[dim] for dim in over)
        counters = [counter for part in place.index for counter, _ in part.terms]
        if any(self.domain.is_column(counter) for counter in counters if counter >= 0):
            raise CutError(node.name, "needed at another row than the one at hand")
        size = join_index(tuple(Affine(extent - 1) for extent in reduced), reduced).const + 1
        if size != self.domain.row_extent:
            if node.numel == 1:
                return self._lower_total(node, name)
            raise CutError(node.name, "reduces another extent than the kernel's rows")
        args = []
        for piece in range(len(self.domain.pieces)):
            column = self.domain.locate_column(piece)
            parts = iter(split_index(column, reduced, self.get_sizes(piece)))
            kept = iter(place.index)
            index = tuple(next(parts) if dim in over else next(kept) for dim in range(len(shape)))
            args.append(self.convert(self.lower(name, Place(index, piece)), LANES[node.dtype]))
        if Level.FINAL in {self.values[number].level for number in args}:
            raise CutError(name, "known only after the last row")
        return self.add(
            Value(op=f"reduce_{node.op}", args=tuple(args), lane=LANES[node.dtype], level=Level.ROW)
        )

    def _lower_total(self, node: Node, name: str) -> int:
        shape = self._shapes[name]
        whole = join_index(tuple(Affine(extent - 1) for extent in shape), shape).const + 1
        if any(dim.count != dim.extent for dim in self.domain.outer):
            raise CutError(node.name, "a part of the rows does not make the total")
        if whole not in (self.domain.rows, self.domain.rows * self.domain.row_extent):
            raise CutError(node.name, "a total over other elements than the kernel's")
        pieces = range(len(self.domain.pieces)) if whole > self.domain.rows else (0,)
        args = []
        for piece in pieces:
            index = self.locate(shape, piece, is_row=whole == self.domain.rows)
            args.append(self.convert(self.lower(name, Place(index, piece)), LANES[node.dtype]))
        return self.add(
            Value(op=f"reduce_{node.op}", args=tuple(args), lane=LANES[node.dtype], level=Level.FINAL)
        )

    def locate(self, shape: tuple[int, ...], piece: int, *, is_row: bool) -> Index:
        """The index, into a tensor as large as the domain (or as its rows), of the element at hand."""
        position, order = self.domain.locate_row(), self.domain.order
        if not is_row:
            position = position.scale(self.domain.row_extent) + self.domain.locate_column(piece)
        if is_row or not order or len(order) != len(shape):
            return split_index(position, shape, self.get_sizes(piece))
        arranged = split_index(position, tuple(shape[dim] for dim in order), self.get_sizes(piece))
        return tuple(arranged[order.index(dim)] for dim in range(len(shape)))

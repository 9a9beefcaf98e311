"""Lower reductions: over the columns of the kernel's rows, or over everything."""

from math import prod

from cuda_agent.expert.graph import Node
from cuda_agent.expert.index import split_index
from cuda_agent.expert.lowering import CutError, Lowering, Place
from cuda_agent.expert.ops import LANES, Lane
from cuda_agent.expert.plan import Level, Value


def lower_reduction(lowering: Lowering, node: Node, *, place: Place) -> int:
    """A reduction at one row: its operand at every column, piece by piece.

    Raises:
        CutError: it reduces something else than the kernel's columns.
    """
    domain = lowering.domain
    name, over = node.get_ref("input"), node.get_ints("dims")
    shape = lowering.shapes[name]
    reduced = tuple(shape[dim] for dim in over)
    counters = [counter for part in place.index for counter, _ in part.terms if counter >= 0]
    if any(domain.is_column(counter) for counter in counters):
        raise CutError(node.name, "needed at another row than the one at hand")
    if domain.is_flat or prod(reduced) != domain.row_extent:
        if node.numel == 1:
            return lower_total(lowering, node)
        raise CutError(node.name, "reduces another extent than the kernel's rows")
    places = []
    for piece in range(len(domain.pieces)):
        column = domain.locate_column(piece)
        parts = iter(split_index(column, reduced, sizes=lowering.get_sizes(piece)))
        kept = iter(place.index)
        index = tuple(next(parts) if dim in over else next(kept) for dim in range(len(shape)))
        places.append(Place(index, piece))
    return add_reduction(lowering, node, places=places, level=Level.ROW)


def lower_total(lowering: Lowering, node: Node) -> int:
    """A reduction over all elements of the kernel, or over one value for each of its rows.

    Raises:
        CutError: it reduces other elements than the kernel's.
    """
    domain, shape = lowering.domain, lowering.shapes[node.get_ref("input")]
    numel = prod(shape)
    if any(dim.count != dim.extent for dim in domain.outer):
        raise CutError(node.name, "a part of the rows does not make the total")
    if numel not in (domain.rows, domain.rows * domain.row_extent):
        raise CutError(node.name, "a total over other elements than the kernel's")
    is_row = numel == domain.rows
    pieces = (0,) if is_row else range(len(domain.pieces))
    places = [Place(lowering.locate(shape, piece, is_row=is_row), piece) for piece in pieces]
    return add_reduction(lowering, node, places=places, level=Level.FINAL)


def add_reduction(lowering: Lowering, node: Node, *, places: list[Place], level: Level) -> int:
    """The reduction of the operand at some places. Truth values are reduced as whole numbers."""
    name, lane = node.get_ref("input"), LANES[node.dtype]
    held = Lane.I64 if lane is Lane.BOOL else lane
    args = [lowering.convert(lowering.lower(name, place), held) for place in places]
    if Level.FINAL in lowering.get_levels(args):
        raise CutError(name, "known only after the last row")
    number = lowering.add(Value(op=f"reduce_{node.op}", args=tuple(args), lane=held, level=level))
    return lowering.convert(number, lane)

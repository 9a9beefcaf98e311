"""Lower what is computed element by element."""

from cuda_agent.expert import ops
from cuda_agent.expert.graph import Node, find_refs
from cuda_agent.expert.index import Affine
from cuda_agent.expert.lowering import CutError, Index, Lowering, Place
from cuda_agent.expert.ops import LANES, Lane
from cuda_agent.expert.plan import Level, Value

HOIST_FACTOR = 4
"""A dear value this many times smaller than the kernel's domain is computed once, in a kernel of its own."""


def narrow_index(shape: tuple[int, ...], index: Index) -> Index:
    """The index into a broadcast operand: leading dimensions fall away, sizes of one have index 0."""
    tail = index[len(index) - len(shape) :] if shape else ()
    return tuple(Affine() if size == 1 else part for part, size in zip(tail, shape, strict=True))


def lower_full(lowering: Lowering, node: Node, *, place: Place) -> int:
    """A tensor of one number is that number."""
    return lowering.add_literal(node.get_number("value"), LANES[node.dtype])


def lower_iota(lowering: Lowering, node: Node, *, place: Place) -> int:
    """A count is an affine number."""
    position = place.index[0].scale(node.get_int("step")) + Affine(node.get_int("start"))
    return lowering.count(position, piece=place.piece)


def lower_point(lowering: Lowering, node: Node, *, place: Place) -> int:
    """Operands at their broadcast places, brought to a common lane."""
    names = [find_refs([arg])[0] if isinstance(arg, dict) else "" for arg in node.args.values()]
    numbers = []
    for name, arg in zip(names, node.args.values(), strict=True):
        if isinstance(arg, int | float):
            held = Lane.BOOL if isinstance(arg, bool) else Lane.I64 if isinstance(arg, int) else Lane.F32
            numbers.append(lowering.add_literal(arg, held))
        else:
            index = narrow_index(lowering.shapes[name], place.index)
            numbers.append(lowering.lower(name, Place(index, place.piece)))
    lane = LANES[node.dtype]
    lanes = find_operand_lanes(lowering, numbers, op=node.op, lane=lane)
    numbers = [lowering.convert(number, want) for number, want in zip(numbers, lanes, strict=True)]
    if node.op == "cast":
        return lower_cast(lowering, numbers[0], node=node)
    level, loop = join_levels(lowering, numbers, names=names)
    total = lowering.domain.rows * lowering.domain.row_extent
    is_dear = ops.POINTWISE[node.op] >= ops.DEAR and node.numel * HOIST_FACTOR <= total
    if is_dear and level is Level.FULL and not place.is_root:
        raise CutError(node.name, "dear, and needed many times over")
    if node.op == "div" and lane is not Lane.I64 and level is Level.FULL:
        divisor = lowering.values[numbers[1]]
        if divisor.level is not Level.FULL:  # one division a row instead of one an element
            inverse = Value(op="reciprocal", args=(numbers[1],), lane=lane, level=divisor.level)
            args = (numbers[0], lowering.add(inverse))
            return lowering.add(Value(op="mul", args=args, lane=lane, level=level, loop=loop))
    return lowering.add(Value(op=node.op, args=tuple(numbers), lane=lane, level=level, loop=loop))


def lower_cast(lowering: Lowering, number: int, *, node: Node) -> int:
    """Another lane, and the precision of float16 and bfloat16, whose lane is wider than they are."""
    number = lowering.convert(number, LANES[node.dtype])
    if node.dtype not in ops.ROUNDED:
        return number
    value = lowering.values[number]
    op = ops.ROUNDED[node.dtype]
    return lowering.add(Value(op=op, args=(number,), lane=value.lane, level=value.level, loop=value.loop))


def find_operand_lanes(lowering: Lowering, numbers: list[int], *, op: str, lane: Lane) -> list[Lane]:
    """The lane that each operand must be in."""
    values = [lowering.values[number] for number in numbers]
    own = [value.lane for value in values]
    if op == "cast":
        return own
    if op == "where":
        return [Lane.BOOL, lane, lane]
    if op not in ops.COMPARISONS:
        return [lane] * len(own)
    common = ops.find_common_lane([value.lane for value in values if value.op != "literal"] or own)
    if common in (Lane.BOOL, Lane.I64):  # a whole number may be compared with a fraction
        common = ops.find_common_lane([common, *own])
    return [common] * len(own)


def join_levels(lowering: Lowering, numbers: list[int], *, names: list[str]) -> tuple[Level, int]:
    """How often a result is computed, and in which loop, given its operands.

    Raises:
        CutError: an operand is known only after the last row, but another one changes with the row.
    """
    levels = lowering.get_levels(numbers)
    if Level.FINAL in levels:
        if Level.ROW in levels or Level.FULL in levels:
            raise CutError(names[levels.index(Level.FINAL)], "known only after the last row")
        return Level.FINAL, 0
    if Level.FULL in levels:
        return Level.FULL, lowering.values[numbers[levels.index(Level.FULL)]].loop
    return (Level.ROW if Level.ROW in levels else Level.ONCE), 0

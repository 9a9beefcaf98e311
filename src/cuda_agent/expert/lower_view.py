"""Lower what only moves elements: the index is followed back to where the element comes from."""

from cuda_agent.expert.graph import Node, find_refs
from cuda_agent.expert.index import Affine, IrregularError, join_index, split_index
from cuda_agent.expert.lower_point import narrow_index
from cuda_agent.expert.lowering import CutError, Lowering, PieceError, Place
from cuda_agent.expert.ops import Lane


def lower_reshape(lowering: Lowering, node: Node, *, place: Place) -> int:
    """The same row-major position under other sizes."""
    name = node.get_ref("input")
    position = join_index(place.index, node.shape)
    if name in lowering.stored:
        return lowering.load(name, position, piece=place.piece)
    try:
        index = split_index(position, lowering.shapes[name], sizes=lowering.get_sizes(place.piece))
    except IrregularError as error:
        raise CutError(name, "its reshape is irregular") from error
    return lowering.lower(name, Place(index, place.piece))


def lower_expand(lowering: Lowering, node: Node, *, place: Place) -> int:
    """The one element that is repeated."""
    name = node.get_ref("input")
    return lowering.lower(name, Place(narrow_index(lowering.shapes[name], place.index), place.piece))


def lower_permute(lowering: Lowering, node: Node, *, place: Place) -> int:
    """The index in another order."""
    index = [Affine()] * len(node.shape)
    for part, dim in zip(place.index, node.get_ints("dims"), strict=True):
        index[dim] = part
    return lowering.lower(node.get_ref("input"), Place(tuple(index), place.piece))


def lower_slice(lowering: Lowering, node: Node, *, place: Place) -> int:
    """The index scaled and moved along one dimension."""
    index, dim = list(place.index), node.get_int("dim")
    index[dim] = index[dim].scale(node.get_int("step")) + Affine(node.get_int("start"))
    return lowering.lower(node.get_ref("input"), Place(tuple(index), place.piece))


def lower_windows(lowering: Lowering, node: Node, *, place: Place) -> int:
    """What a window holds: its own place and the place within it together make the index."""
    strides, dilations = node.get_ints("strides"), node.get_ints("dilations")
    rank = len(strides)
    lead = len(node.shape) - 2 * rank
    inner, outer = place.index[lead : lead + rank], place.index[lead + rank :]
    moved = [
        one.scale(stride) + tap.scale(dilation)
        for one, stride, tap, dilation in zip(outer, strides, inner, dilations, strict=True)
    ]
    return lowering.lower(node.get_ref("input"), Place((*place.index[:lead], *moved), place.piece))


def lower_cat(lowering: Lowering, node: Node, *, place: Place) -> int:
    """The part in which the index lies.

    Raises:
        PieceError: it lies in two of them; the kernel's loop must be divided where they meet.
        CutError: they meet where no loop can be divided.
    """
    dim, part = node.get_int("dim"), place.index[node.get_int("dim")]
    low, high = part.find_bounds(lowering.get_sizes(place.piece))
    start = 0
    for name in find_refs([node.args["inputs"]]):
        end = start + lowering.shapes[name][dim]
        if start <= low < end:
            if high >= end:
                divide_loop(lowering, part, node=node, end=end, piece=place.piece)
            moved = (*place.index[:dim], part + Affine(-start), *place.index[dim + 1 :])
            return lowering.lower(name, Place(moved, place.piece))
        start = end
    raise AssertionError("an index lies outside its concatenation")


def divide_loop(lowering: Lowering, part: Affine, *, node: Node, end: int, piece: int) -> None:
    """Ask for a loop to be divided where `part` reaches `end`."""
    domain = lowering.domain
    if len(part.terms) != 1 or part.terms[0][1] != 1 or part.terms[0][0] < 0:
        raise CutError(node.name, "its parts meet inside a merged dimension")
    counter, inner = part.terms[0][0], len(domain.outer) + len(domain.cols) - 1
    if counter == inner:
        raise PieceError(counter, end - part.const + domain.pieces[piece][0])
    if domain.is_column(counter):
        raise CutError(node.name, "its parts meet in an outer column dimension")
    raise PieceError(counter, end - part.const + domain.outer[counter].start)


def lower_pick(lowering: Lowering, name: str, *, place: Place, bound: int) -> Affine:
    """An index that a tensor holds: affine where the tensor counts, else a counter of its own."""
    number = lowering.convert(lowering.lower(name, place), Lane.I64)
    value = lowering.values[number]
    if value.op == "index" and value.access is not None and not value.access.picks:
        return Affine(value.access.offset, value.access.terms)
    return lowering.add_pick(number, bound)


def lower_index(lowering: Lowering, node: Node, *, place: Place) -> int:
    """Leading dimensions are picked by tensors that are broadcast against each other."""
    name, indices = node.get_ref("input"), find_refs([node.args["indices"]])
    rank = max(len(lowering.shapes[index]) for index in indices)
    picked = []
    for index, size in zip(indices, lowering.shapes[name], strict=False):
        head = narrow_index(lowering.shapes[index], place.index[:rank])
        picked.append(lower_pick(lowering, index, place=Place(head, place.piece), bound=size))
    return lowering.lower(name, Place((*picked, *place.index[rank:]), place.piece))


def lower_gather(lowering: Lowering, node: Node, *, place: Place) -> int:
    """One dimension is picked by a tensor of the result's shape."""
    name, dim = node.get_ref("input"), node.get_int("dim")
    inner = Place(place.index, place.piece)
    picked = lower_pick(lowering, node.get_ref("index"), place=inner, bound=lowering.shapes[name][dim])
    index = (*place.index[:dim], picked, *place.index[dim + 1 :])
    return lowering.lower(name, Place(index, place.piece))

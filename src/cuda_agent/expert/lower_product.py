"""Lower matrix products: they are steps of their own, whose operands are read as they lie in memory."""

from collections.abc import Mapping
from itertools import pairwise
from math import prod

from cuda_agent.expert.domain import Dim, Domain
from cuda_agent.expert.graph import Graph, Node
from cuda_agent.expert.index import RefineError
from cuda_agent.expert.layout import Layout
from cuda_agent.expert.lowering import CutError, Lowering, LoweringRule, PieceError, Place
from cuda_agent.expert.ops import PRODUCT
from cuda_agent.expert.plan import Access, Buffer, Digit, Operand, Product

MOST_SPLITS = 16
"""An operand whose index needs more splitting than this is copied first."""


def lower_product(lowering: Lowering, node: Node, *, place: Place) -> int:
    """No kernel computes a product on the way.

    Raises:
        CutError: always.
    """
    raise CutError(node.name, "a matrix product")


def locate_operand(layout: Layout, name: str, *, rules: Mapping[str, LoweringRule]) -> tuple[Domain, Access]:
    """How an operand lies in memory: an access over the counters of a domain of its shape.

    Raises:
        CutError: it does not lie in memory in a regular way, and must be written there first.
    """
    shape = layout.graph.shapes[name]
    domain = Domain(tuple(Dim(size) for size in shape[:-1]), shape[-1:], ((0, shape[-1]),))
    for _ in range(MOST_SPLITS):
        lowering = Lowering(layout.graph, domain, stored=layout.find_stored(), rules=rules)
        try:
            number = lowering.lower(name, Place(lowering.locate(shape, 0, is_row=False), 0))
        except RefineError as error:
            refined = domain.refine(error.counter, error.size)
            if refined is None:
                break
            domain = refined
            continue
        except PieceError:
            break
        value = lowering.values[number]
        if value.op != "load" or value.access is None or value.access.picks:
            break
        return domain, value.access
    raise CutError(name, "an operand of a matrix product")


def split_digits(counts: list[int], strides: list[int], *, shape: tuple[int, ...]) -> list[tuple[Digit, ...]]:
    """The counters of each dimension of a shape, merged where they are walked through as one."""
    found = []
    place = 0
    for size in shape:
        digits: list[Digit] = []
        reached = 1
        while reached < size:
            digits.append(Digit(count=counts[place], stride=strides[place]))
            reached *= counts[place]
            place += 1
        while place < len(counts) and counts[place] == 1:
            place += 1
        found.append(merge_digits([digit for digit in digits if digit.count > 1]))
    return found


def merge_digits(digits: list[Digit]) -> tuple[Digit, ...]:
    """The same walk with as few digits as possible."""
    for place, (high, low) in enumerate(pairwise(digits)):
        if high.stride == low.stride * low.count:
            joined = Digit(count=high.count * low.count, stride=low.stride)
            return merge_digits([*digits[:place], joined, *digits[place + 2 :]])
    return tuple(digits)


def build_operand(layout: Layout, name: str, *, rules: Mapping[str, LoweringRule]) -> Operand:
    """An operand of a product, as it lies in memory.

    Raises:
        CutError: it must be written there first.
    """
    shape = layout.graph.shapes[name]
    domain, access = locate_operand(layout, name, rules=rules)
    counts = [*(dim.count for dim in domain.outer), *domain.cols]
    strides = [access.get_coefficient(counter) for counter in range(len(counts))]
    *batch, rows, cols = split_digits(counts, strides, shape=shape)
    walked = merge_digits([digit for digits in batch for digit in digits])
    return Operand(buffer=access.buffer, offset=access.offset, batch=walked, rows=rows, cols=cols)


def is_matrix(operand: Operand) -> bool:
    """Whether rows and columns are each evenly apart, as those of windows are not."""
    return len(operand.rows) <= 1 and len(operand.cols) <= 1


def build_product(layout: Layout, root: str, *, buffer: Buffer, rules: Mapping[str, LoweringRule]) -> Product:
    """The product that fills a buffer.

    Raises:
        CutError: an operand must be written to memory first.
    """
    node = next(node for node in layout.graph.nodes if node.name == root)
    left, right = node.get_ref("left"), node.get_ref("right")
    *_, rows, depth = layout.graph.shapes[left]
    operands = [build_operand(layout, name, rules=rules) for name in (left, right)]
    if len(operands[0].cols) > 1 and not is_matrix(operands[1]):
        raise CutError(left, "the filters of a convolution, which no library takes but packed")
    return Product(
        name=root,
        out=buffer.name,
        batch=prod(node.shape[:-2]),
        rows=rows,
        cols=node.shape[-1],
        depth=depth,
        left=operands[0],
        right=operands[1],
    )


def find_products(graph: Graph) -> tuple[str, ...]:
    """Every product of a graph."""
    return tuple(node.name for node in graph.nodes if node.op == PRODUCT)

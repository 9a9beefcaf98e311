"""Gather a canonical graph into few kernels: what is not in memory is computed where it is used."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import prod

from cuda_agent.expert.collapse import collapse_kernel
from cuda_agent.expert.domain import Dim, Domain
from cuda_agent.expert.graph import Graph
from cuda_agent.expert.index import Affine, IrregularError, RefineError, join_index
from cuda_agent.expert.layout import Layout, find_needs, find_reductions
from cuda_agent.expert.lower import RULES, build_lowering
from cuda_agent.expert.lower_product import build_product, find_products
from cuda_agent.expert.lower_traversal import build_traversal, find_traversals
from cuda_agent.expert.lowering import CutError, Lowering, PieceError, Place
from cuda_agent.expert.plan import Access, Buffer, Kernel, Level, Plan, Role, Step, Store

LONG_ROW = 1 << 14
"""A tensor of more elements than this is not treated as a single row: that would keep one thread busy."""

MOST_SPLITS = 64
"""A loop nest that needs more splitting than this is given up."""


@dataclass(frozen=True)
class Group:
    """Roots that one kernel stores."""

    roots: tuple[str, ...]
    """Their names."""
    domain: Domain
    """The loop nest that suits them all."""


def choose_domain(graph: Graph, root: str, *, stored: Mapping[str, str]) -> Domain:
    """The loop nest for a root.

    Raises:
        CutError: a reduction does not fit the root's shape and must be in memory first.
    """
    shapes, shape = graph.shapes, graph.shapes[root]
    found = find_reductions(graph, root, stored=stored)
    if not found:
        return build_flat(shape)
    totals = [
        node.get_ref("input") for node in found if node.numel == 1 and prod(shapes[node.get_ref("input")]) > 1
    ]
    if totals and prod(shape) == 1:
        domains = [choose_domain_of_total(graph, name, stored=stored) for name in totals]
        return next((domain for domain in domains if not domain.is_flat), domains[0])
    nearest = found[0]
    read, over = shapes[nearest.get_ref("input")], nearest.get_ints("dims")
    if nearest.numel == 1 and prod(read) > LONG_ROW:
        raise CutError(nearest.name, "a total that all elements need")
    reduced = tuple(read[dim] for dim in over)
    if read == shape:
        kept = tuple(dim for dim in range(len(shape)) if dim not in over)
        return build_domain(tuple(shape[dim] for dim in kept), reduced, order=kept + over)
    if prod(shape) == nearest.numel:
        return build_domain(shape, reduced)
    for split in range(len(shape)):
        if prod(shape[split:]) == prod(reduced) and prod(shape[:split]) == nearest.numel:
            return build_domain(shape[:split], shape[split:])
    raise CutError(nearest.name, "its rows are not the rows of what needs it")


def choose_domain_of_total(graph: Graph, name: str, *, stored: Mapping[str, str]) -> Domain:
    """The loop nest for the total of a node."""
    return build_flat(graph.shapes[name]) if name in stored else choose_domain(graph, name, stored=stored)


def build_domain(outer: tuple[int, ...], cols: tuple[int, ...], *, order: tuple[int, ...] = ()) -> Domain:
    """Rows of columns, not divided yet."""
    arranged = order if order != tuple(sorted(order)) else ()
    return Domain(tuple(Dim(size) for size in outer), cols, ((0, cols[-1]),), arranged)


def build_flat(shape: tuple[int, ...]) -> Domain:
    """All elements of a shape, in order."""
    return replace(build_domain(shape[:-1], shape[-1:] or (1,)), is_flat=True)


def store_root(lowering: Lowering, root: str, *, buffer: Buffer) -> list[Store]:
    """Lower a root at every place of its buffer, and store it.

    Raises:
        IrregularError: the root has another size than the kernel's domain, its rows and a total.
    """
    domain, shape = lowering.domain, buffer.shape
    rows = prod(dim.extent for dim in domain.outer)
    level = {1: Level.FINAL, rows: Level.ROW, rows * domain.row_extent: Level.FULL}.get(prod(shape))
    if level is None:
        raise IrregularError(f"{root} does not fill the kernel's domain")
    stores = []
    for piece in range(len(domain.pieces)) if level is Level.FULL else (0,):
        index = tuple(Affine() for _ in shape)
        if level is not Level.FINAL:
            index = lowering.locate(shape, piece, is_row=level is Level.ROW)
        number = lowering.lower(root, Place(index, piece, is_root=True))
        is_final = lowering.values[number].level is Level.FINAL
        access = build_store_access(buffer.name, join_index(index, shape))
        loop = domain.loops.index(domain.pieces[piece][1])
        stores.append(Store(value=number, access=access, level=Level.FINAL if is_final else level, loop=loop))
    return stores


def build_store_access(buffer: str, position: Affine) -> Access:
    """The element of a buffer that a store fills."""
    return Access(buffer=buffer, offset=position.const, terms=position.terms)


def lower_group(layout: Layout, group: Group) -> list[Kernel]:
    """The kernels (several where rows are divided) that store these roots over one domain.

    Raises:
        CutError: something must be in memory first.
        IrregularError: no splitting of loops makes every index affine.
    """
    buffers = {buffer.node: buffer for buffer in layout.buffers if buffer.role is not Role.SOURCE}
    domain = group.domain
    for _ in range(MOST_SPLITS):
        lowering = build_lowering(layout.graph, domain, stored=layout.stored)
        try:
            stores = [s for root in group.roots for s in store_root(lowering, root, buffer=buffers[root])]
        except RefineError as error:
            refined = domain.refine(error.counter, error.size)
            if refined is None:
                raise IrregularError("a divided dimension would have to be split") from error
            domain = refined
        except PieceError as error:
            if not domain.is_column(error.counter):
                halves = domain.cut_rows(error.counter, error.at)
                return [k for half in halves for k in lower_group(layout, Group(group.roots, half))]
            domain = domain.cut_columns(error.at)
        else:
            return [build_kernel(lowering, stores)]
    raise IrregularError("splitting loops does not end")


def build_kernel(lowering: Lowering, stores: list[Store]) -> Kernel:
    """The kernel that a finished lowering describes, with mergeable counters merged."""
    domain = lowering.domain
    kernel = Kernel(
        name="kernel",
        outer=tuple(dim.count for dim in domain.outer),
        cols=domain.cols[:-1],
        loops=domain.loops,
        values=tuple(lowering.values),
        stores=tuple(stores),
    )
    return collapse_kernel(kernel)


def group_roots(layout: Layout) -> list[Group]:
    """Roots that can share a kernel: same domain, something read in common, neither needing the other."""
    graph, stored = layout.graph, layout.stored
    lone = find_lone(graph)
    groups: list[Group] = []
    needs_of: dict[str, set[str]] = {}
    for root in layout.find_roots():
        needs_of[root] = find_needs(graph, root, stored=stored)
        if root in lone:
            groups.append(Group((root,), build_flat(graph.shapes[root])))
            continue
        domain = choose_domain(graph, root, stored=stored)
        needs = needs_of[root]
        for place, group in enumerate(groups):
            theirs = set().union(*(needs_of[member] for member in group.roots))
            later = {name for other in groups[place:] for name in other.roots}
            is_lone = group.roots[0] in lone
            if not is_lone and group.domain == domain and needs & theirs and not needs & later:
                groups[place] = Group((*group.roots, root), domain)
                break
        else:
            groups.append(Group((root,), domain))
    return groups


def find_lone(graph: Graph) -> tuple[str, ...]:
    """Nodes that are steps of their own."""
    return find_products(graph) + find_traversals(graph)


def build_steps(layout: Layout, group: Group) -> list[Step]:
    """The product or traversal that fills a root, or the kernels that store a group of roots.

    Raises:
        CutError: something must be in memory first.
        IrregularError: no splitting of loops makes every index affine.
    """
    root = group.roots[0]
    if root not in find_lone(layout.graph):
        return [*lower_group(layout, group)]
    buffer = next(b for b in layout.buffers if b.node == root and b.role is not Role.SOURCE)
    if root in find_traversals(layout.graph):
        return [build_traversal(layout, root, buffer=buffer)]
    return [build_product(layout, root, buffer=buffer, rules=RULES)]


def try_fuse(layout: Layout) -> Plan:
    """A plan, if everything that is not in memory can be computed where it is needed.

    Raises:
        CutError: something must be in memory first.
    """
    buffers = layout.buffers
    steps = [step for group in group_roots(layout) for step in build_group(layout, group)]
    named = tuple(step.model_copy(update={"name": f"kernel{k}"}) for k, step in enumerate(steps))
    outputs = {buffer.node: buffer.name for buffer in buffers if buffer.role is Role.OUTPUT}
    return Plan(steps=named, buffers=buffers, outputs=tuple(outputs[name] for name in layout.graph.outputs))


def build_group(layout: Layout, group: Group) -> list[Step]:
    """The steps of a group of roots.

    Raises:
        CutError: something must be in memory first.
    """
    try:
        return build_steps(layout, group)
    except IrregularError as error:
        raise CutError(find_blocker(layout, group.roots), str(error)) from error


def find_blocker(layout: Layout, roots: tuple[str, ...]) -> str:
    """The nearest operation beneath the roots that is not in memory yet.

    Raises:
        IrregularError: there is none: a root alone cannot be written as a loop nest.
    """
    known = layout.graph.known
    for root in roots:
        for ref in known[root].get_refs() if root in known else ():
            if ref in known and ref not in layout.cuts:
                return ref
    raise IrregularError(f"{', '.join(roots)} cannot be written as a loop nest")


def fuse_graph(graph: Graph) -> Plan:
    """The plan with the fewest kernels that this way of fusing finds.

    Raises:
        IrregularError: an operation cannot be written as a loop nest at all.
    """
    layout = Layout(graph, find_lone(graph))
    settled: set[str] = set()
    for _ in range(len(graph.nodes) + 1):
        try:
            settle(layout, settled)
            return try_fuse(layout)
        except CutError as error:
            if error.node in layout.cuts:
                raise IrregularError(str(error)) from error
            layout = layout.cut(error.node)
    raise AssertionError("every cut is made once, so this ends")


def settle(layout: Layout, settled: set[str]) -> None:
    """Look at every group of roots that was not found to work before, and note the roots of those that do.

    A cut hardly ever hinders a kernel that needs no further one; try_fuse sees whether it does.

    Raises:
        CutError: something must be in memory first.
    """
    for group in group_roots(layout):
        if not settled.issuperset(group.roots):
            build_group(layout, group)
            settled.update(group.roots)

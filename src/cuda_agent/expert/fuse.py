"""Gather a canonical graph into as few kernels as can be: what is not in memory is computed where it is used."""

from dataclasses import dataclass, field
from math import prod

from cuda_agent.expert import ops
from cuda_agent.expert.collapse import collapse_kernel
from cuda_agent.expert.domain import Dim, Domain
from cuda_agent.expert.graph import Graph, Node
from cuda_agent.expert.index import IrregularError, RefineError, join_index
from cuda_agent.expert.lower import CutError, Lowering, PieceError, Place
from cuda_agent.expert.plan import Access, Buffer, Kernel, Level, Plan, Role, Store


@dataclass
class Layout:
    """What lies in memory."""

    graph: Graph
    """The canonical graph."""
    cuts: dict[str, None] = field(default_factory=dict)
    """Nodes that must be in memory, beside the outputs."""

    def find_roots(self) -> list[str]:
        """Nodes that kernels must store, in graph order, so that a root's needs come before it."""
        wanted = set(self.graph.outputs) | set(self.cuts)
        sources = [source.name for source in self.graph.sources if source.name in wanted]
        return sources + [node.name for node in self.graph.nodes if node.name in wanted]

    def build_buffers(self) -> tuple[Buffer, ...]:
        """A buffer for each source and for each root."""
        known = {source.name: (source.shape, source.dtype) for source in self.graph.sources}
        known |= {node.name: (node.shape, node.dtype) for node in self.graph.nodes}
        buffers = [
            Buffer(name=f"in{k}", role=Role.SOURCE, node=s.name, shape=s.shape, dtype=s.dtype)
            for k, s in enumerate(self.graph.sources)
        ]
        for role, stem in ((Role.OUTPUT, "out"), (Role.SCRATCH, "mid")):
            names = [name for name in self.find_roots() if (name in self.graph.outputs) == (role is Role.OUTPUT)]
            for place, name in enumerate(names):
                shape, dtype = known[name]
                buffers.append(
                    Buffer(name=f"{stem}{place}", role=role, node=name, shape=shape, dtype=dtype)
                )
        return tuple(buffers)


def find_reductions(graph: Graph, root: str, stored: dict[str, str]) -> list[Node]:
    """Reductions that the root needs and that are not in memory, nearest first."""
    known = {node.name: node for node in graph.nodes}
    queue, seen, found = [root], {root}, []
    while queue:
        name = queue.pop(0)
        if name not in known or (name in stored and name != root):
            continue
        node = known[name]
        if node.op in ops.REDUCTIONS:
            found.append(node)
        for ref in node.get_refs():
            if ref not in seen:
                seen.add(ref)
                queue.append(ref)
    return found


def choose_domain(graph: Graph, root: str, stored: dict[str, str]) -> Domain:
    """The loop nest for a root.

    Raises:
        CutError: a reduction does not fit the root's shape and must be in memory first.
    """
    shapes = {source.name: source.shape for source in graph.sources}
    shapes |= {node.name: node.shape for node in graph.nodes}
    shape = shapes[root]
    found = find_reductions(graph, root, stored)
    if not found:
        cols = shape[-1:] or (1,)
        return Domain(tuple(Dim(size) for size in shape[:-1]), cols, ((0, cols[-1]),))
    nearest = found[0]
    read, over = shapes[nearest.get_ref("input")], nearest.get_ints("dims")
    if nearest.numel == 1 and prod(read) > 1 and prod(shape) == 1:
        return choose_domain(graph, nearest.get_ref("input"), stored)
    reduced = tuple(read[dim] for dim in over)
    if read == shape:
        kept = tuple(dim for dim in range(len(shape)) if dim not in over)
        outer = tuple(Dim(shape[dim]) for dim in kept)
        return Domain(outer, reduced, ((0, reduced[-1]),), kept + over)
    if prod(shape) == nearest.numel:
        return Domain(tuple(Dim(size) for size in shape), reduced, ((0, reduced[-1]),))
    for split in range(len(shape)):
        if prod(shape[split:]) == prod(reduced) and prod(shape[:split]) == nearest.numel:
            outer, cols = tuple(Dim(size) for size in shape[:split]), shape[split:]
            return Domain(outer, cols, ((0, cols[-1]),))
    raise CutError(nearest.name, "its rows are not the rows of what needs it")


def store_root(lowering: Lowering, root: str, buffer: Buffer) -> list[Store]:
    """Lower a root at every place of its buffer, and store it."""
    domain, shape = lowering.domain, buffer.shape
    numel, whole = prod(shape), prod(dim.extent for dim in domain.outer)
    if numel not in (whole, whole * domain.row_extent, 1):
        raise IrregularError(f"{root} does not fill the kernel's domain")
    stores = []
    is_full = numel == whole * domain.row_extent
    for piece in range(len(domain.pieces)) if is_full else (0,):
        is_row = not is_full and numel == whole
        index = lowering.locate(shape, piece, is_row=is_row) if is_full or is_row else (join_index((), ()),) * 0
        if not (is_full or is_row):
            index = tuple(join_index((), ()) for _ in shape)
        number = lowering.lower(root, Place(index, piece), is_root=True)
        position = join_index(index, shape)
        level = Level.FULL if is_full else Level.ROW
        if lowering.values[number].level is Level.FINAL:
            level = Level.FINAL
        access = Access(buffer=buffer.name, offset=position.const, terms=position.terms)
        loop = domain.loops.index(domain.pieces[piece][1])
        stores.append(Store(value=number, access=access, level=level, loop=loop))
    return stores


def lower_roots(
    layout: Layout, roots: tuple[str, ...], domain: Domain, *, stored: dict[str, str]
) -> list[Kernel]:
    """The kernels (several where rows are divided) that store these roots over one domain."""
    buffers = {buffer.node: buffer for buffer in layout.build_buffers() if buffer.role is not Role.SOURCE}
    for _ in range(64):
        lowering = Lowering(layout.graph, domain, stored)
        try:
            stores = [store for root in roots for store in store_root(lowering, root, buffers[root])]
        except RefineError as error:
            refined = domain.refine(error.counter, error.size)
            if refined is None:
                raise IrregularError("a divided dimension would have to be split") from error
            domain = refined
        except PieceError as error:
            if domain.is_column(error.counter):
                domain = domain.cut_columns(error.at)
                continue
            halves = domain.cut_rows(error.counter, error.at)
            return [kernel for half in halves for kernel in lower_roots(layout, roots, half, stored=stored)]
        else:
            return [build_kernel(lowering, stores)]
    raise IrregularError("splitting counters does not end")


def build_kernel(lowering: Lowering, stores: list[Store]) -> Kernel:
    """The kernel that a finished lowering describes, with mergeable counters merged."""
    domain = lowering.domain
    if any(store.level is Level.FINAL for store in stores) and len(stores) > 1:
        mixed = {store.level for store in stores}
        if len(mixed) > 1 and any(dim.count != dim.extent for dim in domain.outer):
            raise IrregularError("a total beside a part of the rows")
    kernel = Kernel(
        name="kernel",
        outer=tuple(dim.count for dim in domain.outer),
        cols=domain.cols[:-1],
        loops=domain.loops,
        values=tuple(lowering.values),
        stores=tuple(stores),
        nodes=tuple(lowering.nodes_used),
    )
    return collapse_kernel(kernel)


def find_needs(graph: Graph, root: str, stored: dict[str, str]) -> set[str]:
    """Nodes and sources in memory that a root reads."""
    known = {node.name: node for node in graph.nodes}
    queue, seen = [root], {root}
    needs = set()
    while queue:
        name = queue.pop()
        if name != root and name in stored:
            needs.add(name)
            continue
        for ref in known[name].get_refs() if name in known else ():
            if ref not in seen:
                seen.add(ref)
                queue.append(ref)
    return needs | ({root} if root not in known else set())


def group_roots(layout: Layout, stored: dict[str, str]) -> list[tuple[tuple[str, ...], Domain]]:
    """Roots that can share a kernel: same domain, something read in common, neither needing the other."""
    groups: list[tuple[tuple[str, ...], Domain]] = []
    for root in layout.find_roots():
        domain = choose_domain(layout.graph, root, stored)
        needs = find_needs(layout.graph, root, stored)
        for place, (members, shared) in enumerate(groups):
            others = set().union(*(find_needs(layout.graph, member, stored) for member in members))
            later = {name for group, _ in groups[place:] for name in group}
            if shared == domain and needs & others and not needs & later:
                groups[place] = ((*members, root), shared)
                break
        else:
            groups.append(((root,), domain))
    return groups


def try_fuse(layout: Layout) -> Plan:
    """A plan, if everything that is not in memory can be computed where it is needed.

    Raises:
        CutError: something must be in memory first.
    """
    buffers = layout.build_buffers()
    stored = {source.name: f"in{place}" for place, source in enumerate(layout.graph.sources)}
    stored |= {buffer.node: buffer.name for buffer in buffers if buffer.node in layout.cuts}
    kernels: list[Kernel] = []
    for roots, domain in group_roots(layout, stored):
        try:
            kernels += lower_roots(layout, roots, domain, stored=stored)
        except IrregularError as error:
            raise CutError(find_blocker(layout, roots), str(error)) from error
    named = tuple(kernel.model_copy(update={"name": f"kernel{k}"}) for k, kernel in enumerate(kernels))
    outputs = {buffer.node: buffer.name for buffer in buffers if buffer.role is Role.OUTPUT}
    return Plan(kernels=named, buffers=buffers, outputs=tuple(outputs[name] for name in layout.graph.outputs))


def find_blocker(layout: Layout, roots: tuple[str, ...]) -> str:
    """The nearest operation beneath the roots that is not in memory yet."""
    known = {node.name: node for node in layout.graph.nodes}
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
    layout = Layout(graph)
    for _ in range(len(graph.nodes) + 1):
        try:
            return try_fuse(layout)
        except CutError as error:
            if error.node in layout.cuts:
                raise IrregularError(str(error)) from error
            layout.cuts[error.node] = None
    raise AssertionError("every cut is made once, so this ends")

"""What lies in memory, and what a kernel that computes one thing must therefore compute besides."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from cuda_agent.expert import ops
from cuda_agent.expert.graph import Graph, Node
from cuda_agent.expert.plan import Buffer, Role


@dataclass(frozen=True)
class Layout:
    """A graph, and which of its nodes are in memory."""

    graph: Graph
    """The canonical graph."""
    cuts: tuple[str, ...] = ()
    """Nodes that must be in memory, beside the outputs."""

    def cut(self, node: str) -> "Layout":
        """The layout in which one more node is in memory."""
        return replace(self, cuts=(*self.cuts, node))

    def find_roots(self) -> list[str]:
        """What kernels must store, in graph order, so that what a root needs comes before it."""
        wanted = {*self.graph.outputs, *self.cuts}
        sources = [source.name for source in self.graph.sources if source.name in wanted]
        return sources + [node.name for node in self.graph.nodes if node.name in wanted]

    @cached_property
    def buffers(self) -> tuple[Buffer, ...]:
        """A buffer for each source and for each root."""
        shapes, dtypes = self.graph.shapes, self.graph.dtypes
        named = [(f"in{k}", Role.SOURCE, source.name) for k, source in enumerate(self.graph.sources)]
        roots = self.find_roots()
        outputs = [name for name in roots if name in self.graph.outputs]
        scratch = [name for name in roots if name not in self.graph.outputs]
        named += [(f"out{k}", Role.OUTPUT, name) for k, name in enumerate(outputs)]
        named += [(f"mid{k}", Role.SCRATCH, name) for k, name in enumerate(scratch)]
        return tuple(
            Buffer(name=name, role=role, node=node, shape=shapes[node], dtype=dtypes[node])
            for name, role, node in named
        )

    @cached_property
    def stored(self) -> dict[str, str]:
        """The buffer of everything that later kernels read rather than compute again."""
        readable = (buffer for buffer in self.buffers if buffer.role is not Role.OUTPUT)
        stored = {buffer.node: buffer.name for buffer in readable}
        outputs = (buffer for buffer in self.buffers if buffer.role is Role.OUTPUT)
        return stored | {buffer.node: buffer.name for buffer in outputs if buffer.node in self.cuts}


def walk_up(graph: Graph, root: str, *, stored: Mapping[str, str]) -> list[str]:
    """The root and everything it needs, nearest first; the walk ends at what is in memory."""
    known = graph.known
    queue, order = [root], {root: None}
    while queue:
        name = queue.pop(0)
        if name not in known or (name in stored and name != root):
            continue
        for ref in known[name].get_refs():
            if ref not in order:
                order[ref] = None
                queue.append(ref)
    return list(order)


def find_reductions(graph: Graph, root: str, *, stored: Mapping[str, str]) -> list[Node]:
    """Reductions that the root needs and that are not in memory, nearest first."""
    known = graph.known
    names = [n for n in walk_up(graph, root, stored=stored) if n in known and (n == root or n not in stored)]
    return [known[name] for name in names if known[name].op in ops.REDUCTIONS]


def find_needs(graph: Graph, root: str, *, stored: Mapping[str, str]) -> set[str]:
    """What is in memory and read by a kernel that stores the root."""
    sources = {source.name for source in graph.sources}
    walked = walk_up(graph, root, stored=stored)
    return {name for name in walked if (name in stored and name != root) or name in sources}

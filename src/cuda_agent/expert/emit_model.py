"""Write model_new.py: a ModelNew that allocates outputs and calls the kernels."""

from cuda_agent.expert.constructor import (
    find_method,
    find_model,
    write_arguments,
    write_constant,
    write_held,
    write_holders,
)
from cuda_agent.expert.graph import Graph, Origin, Source
from cuda_agent.expert.plan import Buffer, Plan, Role
from cuda_agent.expert.tables import carry_tables
from cuda_agent.expert.template import load_template


def write_argument(buffer: Buffer, sources: dict[str, Source]) -> str:
    """A buffer as an argument of the kernel's call."""
    if buffer.role is not Role.SOURCE:
        return buffer.name
    source = sources[buffer.node]
    if source.origin is Origin.INPUT:
        return f"{source.path}.contiguous()"
    return f"self._{source.name}.contiguous()" if is_literal(source) else f"{write_held(source)}.contiguous()"


def is_literal(source: Source) -> bool:
    """Whether a tensor is small and unnamed, and so is written out in the constructor."""
    return source.values is not None


def is_table(source: Source) -> bool:
    """Whether the constructor must compute a tensor, because the state dict does not hold it."""
    unnamed = source.origin is Origin.CONSTANT or not source.persistent
    return unnamed and not is_literal(source)


def write_allocation(buffer: Buffer, device: str) -> str:
    """The statement that allocates an output or scratch tensor."""
    return f"{buffer.name} = torch.empty({list(buffer.shape)}, dtype=torch.{buffer.dtype}, device={device})"


def find_device(graph: Graph) -> str:
    """An expression for the device that forward works on."""
    for source in graph.sources:
        if source.origin is Origin.INPUT:
            return f"{source.path}.device"
    for source in graph.sources:
        if not is_literal(source):
            return f"{write_held(source)}.device"
    return "None"


def write_literals(graph: Graph) -> list[str]:
    """Statements that make small constants, as buffers, so that they move with the module."""
    return [
        f"self.register_buffer('_{item.name}', {write_constant(item)}, persistent=False)"
        for item in graph.sources
        if is_literal(item)
    ]


def emit_model(graph: Graph, plan: Plan, *, source: str, is_brief: bool = False) -> str:
    """The source of model_new.py for a task's `source`; brief is without comments and checks of shapes.

    Raises:
        SignatureError: the module keeps a table that can neither be loaded nor computed again.
    """
    model = find_model(source)
    sources = {item.name: item for item in graph.sources}
    paths = [item.path for item in graph.sources if is_table(item)]
    top, carried = carry_tables(source, paths) if paths else ([], [])
    outputs = [buffer for buffer in plan.buffers if buffer.role is not Role.SOURCE]
    return load_template(
        "model_new.py.jinja",
        is_brief=is_brief,
        top=[line for text in top for line in text.splitlines()],
        init_arguments=write_arguments(find_method(model, "__init__")),
        holders=[*write_holders(graph.holders), *write_literals(graph)],
        carried=[line for text in carried for line in text.splitlines()],
        forward_arguments=write_arguments(find_method(model, "forward")),
        guards=[item for item in graph.sources if item.origin is Origin.INPUT and not is_brief],
        allocations=[write_allocation(buffer, find_device(graph)) for buffer in outputs],
        arguments=[write_argument(buffer, sources) for buffer in plan.buffers],
        result=graph.structure.format(*plan.outputs),
    )

"""Trace a reference program: source on stdin, a `TraceReply` as JSON on stdout.

Runs the source, which anyone may have written, so it is only ever started in a sandbox:
`python -m cuda_agent.expert.trace`.
"""

import contextlib
import io
import sys
import types
import warnings
from collections.abc import Iterator
from typing import Any

import torch
from pydantic import JsonValue
from torch._decomp import core_aten_decompositions, decomposition_table
from torch.export import ExportedProgram
from torch.export.graph_signature import InputKind
from torch.utils import _pytree as pytree

from cuda_agent.expert.graph import Graph, Node, Origin, Source, TraceReply

OPENED = (
    "_softmax", "_log_softmax", "native_layer_norm", "_fused_rms_norm",
    "nll_loss_forward",
    "gelu", "silu", "mish", "elu", "leaky_relu", "hardtanh", "hardsigmoid", "hardswish", "softplus",
    "logsumexp",
    "std", "mse_loss", "smooth_l1_loss", "huber_loss", "addcmul", "addcdiv", "rsub",
    "masked_fill", "linalg_vector_norm", "norm", "glu", "log_sigmoid_forward", "binary_cross_entropy",
    "upsample_bilinear2d", "upsample_nearest2d",
)  # fmt: skip
"""Composite operations that are traced as their parts, so that the parts can be fused anew."""

WHOLE = ("roll",)
"""Operations that are traced as they are, though they could be taken apart: their parts compute indices."""

SMALL_NUMEL = 64
"""Constants up to this size travel with the graph."""

ORIGINS = {
    InputKind.USER_INPUT: Origin.INPUT,
    InputKind.PARAMETER: Origin.PARAMETER,
    InputKind.BUFFER: Origin.BUFFER,
    InputKind.CONSTANT_TENSOR: Origin.CONSTANT,
}


def build_decompositions() -> dict[Any, Any]:
    """The core ATen decompositions, and those of `OPENED`."""
    table = {op: rule for op, rule in core_aten_decompositions().items() if find_packet(op) not in WHOLE}
    return table | {op: rule for op, rule in decomposition_table.items() if find_packet(op) in OPENED}


def find_packet(op: object) -> str:
    """The bare name of an ATen operation."""
    return str(op).split(".")[1] if "." in str(op) else ""


def export_program(source: str) -> tuple[ExportedProgram, torch.nn.Module]:
    """Run the reference's source and export its module in evaluation mode."""
    module = types.ModuleType("reference")
    sys.modules["reference"] = module
    exec(compile(source, "model.py", "exec"), module.__dict__)
    init = module.get_init_inputs()
    model = module.Model(**init) if isinstance(init, dict) else module.Model(*init)
    inputs = module.get_inputs()
    args, kwargs = ((), inputs) if isinstance(inputs, dict) else (tuple(inputs), {})
    device = next(
        (leaf.device for leaf in pytree.tree_leaves(inputs) if isinstance(leaf, torch.Tensor)), None
    )
    model = model.to(device).eval()
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        program = torch.export.export(model, args, kwargs, strict=False)
        return program.run_decompositions(build_decompositions()), model


def encode_arg(value: object) -> JsonValue:
    """An fx argument as JSON."""
    if isinstance(value, torch.fx.Node):
        return {"ref": value.name}
    if isinstance(value, list | tuple):
        return [encode_arg(item) for item in value]
    if isinstance(value, torch.dtype):
        return str(value).removeprefix("torch.")
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return str(value)


def encode_node(node: torch.fx.Node) -> Node:
    """One call as a record, its arguments by name."""
    args: dict[str, JsonValue] = {}
    schema = getattr(node.target, "_schema", None)
    if schema is None:
        args = {str(place): encode_arg(value) for place, value in enumerate(node.args)}
    else:
        for place, formal in enumerate(schema.arguments):
            default = formal.default_value if formal.has_default_value() else None
            given = node.args[place] if place < len(node.args) else node.kwargs.get(formal.name, default)
            args[formal.name] = encode_arg(given)
    value = node.meta.get("val")
    op = str(node.target) if schema is not None else getattr(node.target, "__name__", "?")
    if not isinstance(value, torch.Tensor):
        return Node(name=node.name, op=op, args=args, shape=(), dtype="")
    shape = tuple(int(size) for size in value.shape)
    return Node(name=node.name, op=op, args=args, shape=shape, dtype=str(value.dtype).removeprefix("torch."))


def find_input_paths(program: ExportedProgram) -> list[str]:
    """A Python expression over forward's arguments for each flattened input, in order."""
    names = program.module_call_graph[0].signature.forward_arg_names or []
    args, kwargs = program.example_inputs
    paths = []
    for key_path, _ in pytree.tree_flatten_with_path((args, kwargs))[0]:
        root, rest = key_path[1], key_path[2:]
        first = names[root.idx] if isinstance(root, pytree.SequenceKey) else str(root)[2:-2]
        paths.append(first + "".join(str(key) for key in rest))
    return paths


def build_structure(spec: pytree.TreeSpec, places: Iterator[int]) -> str:
    """The returned structure as a format string over the flattened outputs.

    Raises:
        ValueError: it is neither a tensor nor lists, tuples and dicts of tensors.
    """
    if spec.is_leaf():
        return "{" + str(next(places)) + "}"
    children = [build_structure(child, places) for child in spec.children()]
    if spec.type is tuple:
        return "(" + "".join(child + ", " for child in children) + ")"
    if spec.type is list:
        return "[" + ", ".join(children) + "]"
    if spec.type is dict:
        pairs = zip(spec.context, children, strict=True)
        return "{{" + ", ".join(f"{key!r}: {child}" for key, child in pairs) + "}}"
    raise ValueError(f"forward returns a {spec.type.__name__}")


def encode_source(name: str, origin: Origin, *, path: str, value: torch.Tensor, persistent: bool) -> Source:
    """A tensor that the graph reads, with its elements when it is a small constant."""
    small = origin is Origin.CONSTANT and value.numel() <= SMALL_NUMEL
    values = tuple(float(item) for item in value.detach().cpu().double().flatten()) if small else None
    dtype = str(value.dtype).removeprefix("torch.")
    return Source(name=name, origin=origin, path=path, shape=tuple(value.shape), dtype=dtype,
                  persistent=persistent, values=values)  # fmt: skip


def encode_sources(program: ExportedProgram) -> tuple[Source, ...]:
    """Every placeholder that is a tensor."""
    paths = iter(find_input_paths(program))
    metas = {node.name: node.meta.get("val") for node in program.graph.nodes if node.op == "placeholder"}
    sources = []
    for spec in program.graph_signature.input_specs:
        if spec.kind not in ORIGINS:
            raise ValueError(f"the module holds something that is not a tensor: {spec.arg}")
        path = next(paths) if spec.kind is InputKind.USER_INPUT else str(spec.target)
        value = program.constants.get(path) if spec.kind is InputKind.CONSTANT_TENSOR else None
        value = metas.get(spec.arg.name) if value is None else value
        if isinstance(value, torch.Tensor):
            origin = ORIGINS[spec.kind]
            persistent = spec.persistent is not False
            sources.append(
                encode_source(spec.arg.name, origin, path=path, value=value, persistent=persistent)
            )
    return tuple(sources)


def encode_holders(model: torch.nn.Module) -> tuple[Source, ...]:
    """Every parameter and buffer, by its dotted path."""
    known = set(model.state_dict())
    found: list[tuple[str, Origin, torch.Tensor]] = []
    found += [(name, Origin.PARAMETER, value) for name, value in model.named_parameters()]
    found += [(name, Origin.BUFFER, value) for name, value in model.named_buffers()]
    return tuple(
        encode_source(name, origin, path=name, value=value, persistent=name in known)
        for name, origin, value in found
    )


def trace_source(source: str) -> Graph:
    """The graph of a reference program.

    Raises:
        ValueError: forward does what the graph cannot say, such as writing to its inputs.
    """
    program, model = export_program(source)
    signature = program.graph_signature
    if signature.buffers_to_mutate or signature.user_inputs_to_mutate:
        raise ValueError("forward writes to its inputs or buffers")
    nodes = [node for node in program.graph.nodes if node.op == "call_function"]
    flat = [getattr(spec.arg, "name", None) for spec in signature.output_specs]
    if not all(isinstance(name, str) for name in flat):
        raise ValueError("forward returns something that is not a tensor")
    out_spec = program.module_call_graph[0].signature.out_spec
    return Graph(
        sources=encode_sources(program),
        nodes=tuple(encode_node(node) for node in nodes),
        outputs=tuple(str(name) for name in flat),
        structure=build_structure(out_spec, iter(range(len(flat)))),
        holders=encode_holders(model),
    )


def main() -> None:
    """Trace what stdin says; whatever the source prints goes nowhere."""
    source = sys.stdin.read()
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            reply = TraceReply(graph=trace_source(source))
    except Exception as error:  # the source is foreign code: any failure is an answer
        first = str(error).strip().split("\n")[0][:300]
        reply = TraceReply(reason=f"{type(error).__name__}: {first}")
    print(reply.model_dump_json())


if __name__ == "__main__":
    main()

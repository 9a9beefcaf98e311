"""Cheaper forms of wasteful references: what torch could do with less, by algebra alone.

A kernel for `diag(a) @ B` that scales rows is many times faster than the reference, and has hardly been
written better than torch would have done it. Each rule turns a few nodes of the traced program into a cheaper
expression; whoever asks holds the results against each other and against the clock before believing it.
"""

import operator
import statistics
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import torch
import torch.fx

from cuda_agent.judge.device import Device

_PRODUCTS = (torch.matmul, torch.mm, operator.matmul)
_PRODUCT_METHODS = ("matmul", "mm")
_DIAGONALS = (torch.diag, torch.diagflat, torch.diag_embed)
_DIAGONAL_METHODS = ("diag", "diagflat", "diag_embed")
_SUM_METHODS = ("sum",)
_LAST = (1, -1)
_PAIRS = 5


class CheaperForm(NamedTuple):
    """Another program for the same function."""

    model: Any
    """Called as the reference is; shares its weights."""
    text: str
    """What it does instead of what."""


Rule = Callable[[torch.fx.Graph, torch.fx.Node], str]
"""Rewrites the graph at a node where it fits, and says how; empty where it does not."""


def find_cheaper_form(model: torch.nn.Module) -> CheaperForm | None:
    """The reference with every known waste taken out; None where none is known or it cannot be traced."""
    try:
        traced = torch.fx.symbolic_trace(model)
    except (RuntimeError, TypeError, ValueError, AttributeError, NotImplementedError, KeyError):
        return None  # it decides by values, or calls what cannot be traced
    texts = [
        text for node in list(traced.graph.nodes) for rule in _RULES if (text := rule(traced.graph, node))
    ]
    if not texts:
        return None
    traced.graph.eliminate_dead_code()
    traced.graph.lint()
    traced.recompile()
    return CheaperForm(traced.eval(), ", ".join(dict.fromkeys(texts)))


def measure_gain(
    reference: Callable[..., object],
    cheaper: Callable[..., object],
    *,
    inputs: Sequence[Any],
    device: Device,
) -> float:
    """How many times faster the cheaper form is, by the median of a few pairs of calls."""
    for form in (reference, cheaper):
        form(*inputs)
    ratios = []
    for _ in range(_PAIRS):
        slow_ms, fast_ms = (device.time_call(partial(form, *inputs))[1] for form in (reference, cheaper))
        ratios.append(slow_ms / max(fast_ms, 1e-6))
    return statistics.median(ratios)


def _scale_rows(graph: torch.fx.Graph, node: torch.fx.Node) -> str:
    """diag(a) @ B scales the rows of B."""
    if not _is_product(node) or (diagonal := _find_diagonal(node.args[0])) is None:
        return ""
    with graph.inserting_before(node):
        column = graph.call_method("unsqueeze", (diagonal, -1))
        _replace(graph, node, by=graph.call_function(torch.mul, (column, node.args[1])))
    return "`a[:, None] * B` instead of `diag(a) @ B`"


def _scale_columns(graph: torch.fx.Graph, node: torch.fx.Node) -> str:
    """B @ diag(a) scales the columns of B."""
    if not _is_product(node) or (diagonal := _find_diagonal(node.args[1])) is None:
        return ""
    with graph.inserting_before(node):
        row = graph.call_method("unsqueeze", (diagonal, -2))
        _replace(graph, node, by=graph.call_function(torch.mul, (node.args[0], row)))
    return "`B * a[None, :]` instead of `B @ diag(a)`"


def _sum_first(graph: torch.fx.Graph, node: torch.fx.Node) -> str:
    """The row sums of a layer's or a product's output need no more than a matrix times a vector."""
    source = node.args[0] if node.args else None
    if not isinstance(source, torch.fx.Node) or len(source.users) != 1 or not _sums_last(node):
        return ""
    keeps = bool(node.kwargs.get("keepdim", node.args[2] if len(node.args) > 2 else False))
    with graph.inserting_before(node):
        total = _sum_layer(graph, source) or _sum_product(graph, source)
        if total is None:
            return ""
        _replace(graph, node, by=graph.call_method("unsqueeze", (total, -1)) if keeps else total)
    return "`x @ W.sum(0)` instead of `(x @ W.T).sum(1)`"


def _sum_layer(graph: torch.fx.Graph, source: torch.fx.Node) -> torch.fx.Node | None:
    module = _find_module(graph, source)
    if not isinstance(module, torch.nn.Linear):
        return None
    weight = graph.get_attr(f"{source.target}.weight")
    total = graph.call_function(torch.matmul, (source.args[0], graph.call_method("sum", (weight, 0))))
    if module.bias is None:
        return total
    bias = graph.get_attr(f"{source.target}.bias")
    return graph.call_function(torch.add, (total, graph.call_method("sum", (bias,))))


def _sum_product(graph: torch.fx.Graph, source: torch.fx.Node) -> torch.fx.Node | None:
    if not _is_product(source):
        return None
    left, right = source.args
    return graph.call_function(torch.matmul, (left, graph.call_method("sum", (right, -1))))


_RULES: tuple[Rule, ...] = (_scale_rows, _scale_columns, _sum_first)


def _replace(graph: torch.fx.Graph, node: torch.fx.Node, *, by: torch.fx.Node) -> None:
    node.replace_all_uses_with(by)
    graph.erase_node(node)


def _is_call(node: object, functions: tuple[Callable[..., object], ...], *, methods: tuple[str, ...]) -> bool:
    return isinstance(node, torch.fx.Node) and (
        (node.op == "call_function" and node.target in functions)
        or (node.op == "call_method" and node.target in methods)
    )


def _is_product(node: torch.fx.Node) -> bool:
    return _is_call(node, _PRODUCTS, methods=_PRODUCT_METHODS) and len(node.args) == 2 and not node.kwargs


def _find_diagonal(node: object) -> torch.fx.Node | None:
    """The vector that a node makes a diagonal matrix of."""
    if not isinstance(node, torch.fx.Node) or not _is_call(node, _DIAGONALS, methods=_DIAGONAL_METHODS):
        return None
    vector = node.args[0] if len(node.args) == 1 and not node.kwargs else None
    return vector if isinstance(vector, torch.fx.Node) else None


def _sums_last(node: torch.fx.Node) -> bool:
    """Whether a node sums over the last axis of a matrix."""
    if not _is_call(node, (torch.sum,), methods=_SUM_METHODS) or set(node.kwargs) - {"dim", "keepdim"}:
        return False
    axis = node.kwargs.get("dim", node.args[1] if len(node.args) > 1 else None)
    return axis in _LAST or (isinstance(axis, list | tuple) and list(axis) in ([1], [-1]))


def _find_module(graph: torch.fx.Graph, node: torch.fx.Node) -> torch.nn.Module | None:
    owner = graph.owning_module
    if node.op != "call_module" or owner is None:
        return None
    return owner.get_submodule(str(node.target))

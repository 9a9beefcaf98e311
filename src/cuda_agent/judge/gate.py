"""Is a task worth judging: do its outputs say anything, and do they follow from inputs and weights.

A task whose output is constant, tiny or independent of what it is given can be "solved" without computing.
The measurements here are pure; they run beside the task's program, so in a sandbox.
"""

from collections.abc import Callable, Sequence
from itertools import takewhile
from math import isfinite
from typing import Any

import torch

from cuda_agent.config import Record
from cuda_agent.judge.tree import describe_value

TINY = 0.01
"""Outputs that all lie this close to zero, or spread less than this, are told apart by no usual tolerance."""
_SAME = 1e-5
"""Share of the largest value by which something must change to count as changed."""
_WEIGHTS = 64
_FEW = 16
"""How many places along each axis are looked at first, where a few mostly decide."""


class OutputSummary(Record):
    """One output tensor in a few numbers."""

    is_finite: bool
    """Whether it holds neither NaN nor infinity."""
    lowest: float
    """Its smallest value; 0 where it is not finite or empty."""
    highest: float
    """Its largest value."""
    spread: float
    """Its standard deviation."""
    flat_axes: tuple[int, ...] = ()
    """Axes of more than one element along which nothing varies."""


class GateMeasurement(Record):
    """What the outputs of a task look like, and what they follow."""

    outputs: tuple[OutputSummary, ...]
    """Each output tensor."""
    ignored_inputs: tuple[int, ...] = ()
    """Inputs (as numbered from 0) whose fresh values change no output."""
    weights: int = 0
    """How many floating parameters there are."""
    ignored_weights: tuple[str, ...] = ()
    """Parameters whose fresh values change no output, up to the first that changes one."""


def find_fault(measurement: GateMeasurement) -> str:
    """Why the task is not worth judging; empty when it is."""
    if not measurement.outputs:
        return "there is no output tensor"
    for summary in measurement.outputs:
        if fault := _find_output_fault(summary):
            return fault
    if measurement.ignored_inputs:
        return f"input {measurement.ignored_inputs[0]} changes no output"
    if measurement.weights and len(measurement.ignored_weights) == measurement.weights:
        return "no weight changes an output"
    return ""


def _find_output_fault(summary: OutputSummary) -> str:
    if not summary.is_finite:
        return "an output is not finite"
    if summary.lowest == summary.highest:
        return "an output is zero" if summary.lowest == 0.0 else "an output is constant"
    if max(abs(summary.lowest), abs(summary.highest)) <= TINY:
        return f"an output lies within {TINY} of zero"
    if summary.spread < TINY:
        return f"an output's standard deviation is below {TINY}"
    if summary.flat_axes:
        return f"an output does not vary along axis {summary.flat_axes[0]}"
    return ""


def summarise_output(value: torch.Tensor) -> OutputSummary:
    """A tensor of any kind in a few numbers."""
    floating = value.abs() if value.is_complex() else value
    floating = floating if floating.is_floating_point() else floating.float()
    lowest, highest = map(float, floating.aminmax()) if value.numel() else (0.0, 0.0)
    if not value.numel() or not (isfinite(lowest) and isfinite(highest)):
        return OutputSummary(is_finite=not value.numel(), lowest=0.0, highest=0.0, spread=0.0)
    if value.numel() == 1:  # a total is one number, and may well be one
        return OutputSummary(
            is_finite=True, lowest=min(lowest, 0.0), highest=max(highest, 0.0), spread=abs(highest)
        )
    limit = _SAME * max(abs(lowest), abs(highest))
    flat = [
        axis for axis, size in enumerate(value.shape) if size > 1 and _is_flat(floating, axis, limit=limit)
    ]
    spread = float(floating.float().std())
    return OutputSummary(is_finite=True, lowest=lowest, highest=highest, spread=spread, flat_axes=tuple(flat))


def _is_flat(value: torch.Tensor, axis: int, *, limit: float) -> bool:
    """Whether along an axis nothing varies by more than the limit."""
    parts = (_take_few(value), value)
    return all(float((part.amax(axis) - part.amin(axis)).max()) <= limit for part in parts)


def _take_few(value: torch.Tensor) -> torch.Tensor:
    """Some places along each axis, two at least where there are two, at equal distances."""
    return value[tuple(slice(None, None, -(-size // _FEW) or 1) for size in value.shape)]


def measure_gate(model: torch.nn.Module, inputs: Sequence[Any], *, fresh: Sequence[Any]) -> GateMeasurement:
    """Run a model on its inputs, and again with each input and each weight exchanged.

    Args:
        model: in evaluation mode; its weights are as they were afterwards.
        inputs: forward's arguments.
        fresh: another draw of them.
    """

    def run(arguments: Sequence[Any]) -> list[torch.Tensor]:
        return describe_value(model(*arguments))[1]

    def ignores_input(index: int) -> bool:
        return not changes(outputs, run([*inputs[:index], fresh[index], *inputs[index + 1 :]]))

    outputs = run(inputs)
    tensors = [index for index, value in enumerate(inputs) if isinstance(value, torch.Tensor)]
    weights = [(name, value) for name, value in model.named_parameters() if value.is_floating_point()]
    weights = weights[:_WEIGHTS]

    def ignores_weight(weight: tuple[str, torch.Tensor]) -> bool:
        return not changes(outputs, _run_with_other(weight[1], run, inputs=inputs))

    ignored_weights = tuple(name for name, _ in takewhile(ignores_weight, weights))
    return GateMeasurement(
        outputs=tuple(map(summarise_output, outputs)),
        ignored_inputs=tuple(filter(ignores_input, tensors)),
        weights=len(weights),
        ignored_weights=ignored_weights,
    )


def changes(before: Sequence[torch.Tensor], after: Sequence[torch.Tensor]) -> bool:
    """Whether any tensor differs by more than a trace."""
    return any(_differs(one, other) for one, other in zip(before, after, strict=True))


def _differs(one: torch.Tensor, other: torch.Tensor) -> bool:
    if one.shape != other.shape or not one.is_floating_point():
        return not torch.equal(one, other)
    if not one.numel():
        return False
    limit = _SAME * max(map(abs, map(float, one.aminmax())))
    parts = ((_take_few(one), _take_few(other)), (one, other))
    return any(float((before - after).abs().max()) > limit for before, after in parts)


def _run_with_other(
    weight: torch.Tensor, run: Callable[[Sequence[Any]], list[torch.Tensor]], *, inputs: Sequence[Any]
) -> list[torch.Tensor]:
    """The outputs with other values of a weight, which are put back."""
    kept = weight.detach().clone()
    try:
        with torch.no_grad():
            weight.copy_(torch.randn_like(kept).mul_(kept.abs().mean() + 0.1).add_(kept))
        return run(inputs)
    finally:
        with torch.no_grad():
            weight.copy_(kept)

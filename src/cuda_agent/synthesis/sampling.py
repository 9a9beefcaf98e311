"""What is drawn for one step: shapes, choices, and what its further tensors are."""

import random
from dataclasses import replace

from cuda_agent.synthesis.operator import AXES, Layout, OperandKind, Operator
from cuda_agent.synthesis.plan import Step, name_axes

_BATCH = 8
"""Of a shape whose batch is still to be chosen."""

_SIZES: dict[Layout, tuple[tuple[tuple[int, ...], ...], ...]] = {
    Layout.MATRIX: (((512,), (768,), (1024,), (2048,)),),
    Layout.TOKENS: (((128,), (256,), (512,)), ((256,), (512,), (768,))),
    Layout.MATRICES: (((128,), (256,), (512,)), ((128,), (256,), (512,))),
    Layout.SQUARE: (((64, 64), (128, 128)),),
    Layout.HEADS: (((4,), (8,)), ((128,), (256,), (512,)), ((32,), (64,))),
    Layout.SEQUENCE: (((32,), (64,), (128,)), ((512,), (1024,), (2048,))),
    Layout.IMAGE: (((16,), (32,), (64,)), ((32, 32), (56, 56), (64, 64), (112, 112))),
    Layout.VOLUME: (((8,), (16,), (32,)), ((8, 16, 16), (8, 32, 32), (16, 32, 32))),
    Layout.INDICES: (((256,), (512,), (1024,)),),
}
"""Sizes of the axes after the batch, group by group."""

_FREE = (Layout.MATRIX, Layout.TOKENS, Layout.HEADS, Layout.IMAGE, Layout.SEQUENCE)
_WEIGHT_SHARE = 0.5


def sample_first_step(operator: Operator, generator: random.Random) -> Step:
    """A step that begins a task: the shape fits the operator's layout, the batch is still to be chosen."""
    choices = {Layout.ANY: _FREE, Layout.FEATURES: (Layout.MATRIX, Layout.TOKENS, Layout.HEADS)}
    layout = generator.choice(choices.get(operator.layout, (operator.layout,)))
    shape = (_BATCH, *(size for group in _SIZES[layout] for size in generator.choice(group)))
    return replace(sample_step(operator, generator, shape=shape), axes=AXES[layout])


def sample_shape(step: Step, generator: random.Random) -> tuple[int, ...]:
    """Another shape for a step that begins a task; the batch is still to be chosen."""
    layout = step.operator.layout
    if layout not in _SIZES:
        layout = next(free for free in _FREE if AXES[free] == step.axes)
    return (_BATCH, *(size for group in _SIZES[layout] for size in generator.choice(group)))


def sample_step(operator: Operator, generator: random.Random, *, shape: tuple[int, ...]) -> Step:
    """A step on a tensor of that shape."""
    return Step(
        operator=operator,
        values={name: generator.choice(values) for name, values in operator.choices.items()},
        kinds={name: _resolve(operand.kind, generator) for name, operand in operator.operands.items()},
        shape=shape,
        axes=name_axes(operator.layout, len(shape)),
    )


def _resolve(kind: OperandKind, generator: random.Random) -> OperandKind:
    if kind is not OperandKind.EITHER:
        return kind
    return OperandKind.WEIGHT if generator.random() < _WEIGHT_SHARE else OperandKind.INPUT

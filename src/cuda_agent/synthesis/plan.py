"""A task before it is written: which operators in which order, with which arguments, on which shapes."""

from dataclasses import dataclass
from enum import StrEnum

from cuda_agent.synthesis.operator import AXES, Layout, OperandKind, Operator
from cuda_agent.synthesis.recipe import Precision


class Join(StrEnum):
    """How a step's result goes on."""

    SEQUENCE = "sequence"
    """It takes the place of what it was computed from."""
    RESIDUAL = "residual"
    """It is added to what it was computed from."""
    GATE = "gate"
    """It is multiplied with what it was computed from."""
    BRANCH = "branch"
    """It is computed from the step before's tensor, and added to that step's result."""


@dataclass(frozen=True, kw_only=True)
class Step:
    """One operator of a task."""

    operator: Operator
    """What is applied."""
    values: dict[str, str]
    """Which of its choices."""
    kinds: dict[str, OperandKind]
    """What its further tensors are: inputs or weights."""
    shape: tuple[int, ...]
    """Shape of the tensor that it is applied to."""
    axes: tuple[str, ...]
    """What those axes are called."""
    join: Join = Join.SEQUENCE
    """How its result goes on."""

    def measure(self, symbol: str) -> int:
        """The size that an axis or a choice stands for."""
        if symbol in self.values:
            return int(self.values[symbol])
        return int(symbol) if symbol.isdecimal() else self.shape[self.axes.index(symbol)]

    def shape_operand(self, name: str) -> tuple[int, ...]:
        """The shape of a further tensor; a weight is shared by all elements of a batch."""
        sizes: list[int] = []
        is_shared = self.kinds[name] is OperandKind.WEIGHT and len(self.shape) > 1
        for symbol in self.operator.operands[name].shape:
            if symbol == "*":
                sizes += self.shape[1:] if is_shared else self.shape
            elif symbol == "*:-1":
                sizes += self.shape[:-1]
            else:
                sizes.append(self.measure(symbol))
        return tuple(sizes)


@dataclass(frozen=True, kw_only=True)
class Plan:
    """A whole task."""

    steps: tuple[Step, ...]
    """Its operators, in order; the first one's shape is that of the task's first input."""
    precision: Precision = Precision.FLOAT32
    """What its floating inputs and weights are stored in."""

    @property
    def names(self) -> tuple[str, ...]:
        """The operators' names, in order."""
        return tuple(step.operator.name for step in self.steps)


def accepts(layout: Layout, shape: tuple[int, ...]) -> bool:
    """Whether an operator of that layout can be applied to a tensor of that shape."""
    if layout in AXES:
        square = layout is not Layout.SQUARE or shape[-1:] == shape[-2:-1]
        return layout is not Layout.INDICES and len(AXES[layout]) == len(shape) and square
    return len(shape) >= (2 if layout is Layout.FEATURES else 1)


def name_axes(layout: Layout, rank: int) -> tuple[str, ...]:
    """What the axes are called for an operator of that layout."""
    if layout in AXES:
        return AXES[layout]
    names = {1: ("features",), 2: AXES[Layout.MATRIX], 3: AXES[Layout.TOKENS], 4: AXES[Layout.HEADS]}
    return names.get(rank) or ("batch", *(f"axis_{i}" for i in range(1, rank - 1)), "features")

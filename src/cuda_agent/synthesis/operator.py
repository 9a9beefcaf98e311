"""An operator that tasks are composed from: what it takes, and how it is written."""

from enum import StrEnum

from cuda_agent.config import Record


class Layout(StrEnum):
    """How an operator reads the axes of the tensor it is applied to."""

    ANY = "any"
    """Any tensor with at least one axis."""
    FEATURES = "features"
    """The last axis holds features: (batch, ..., features)."""
    MATRIX = "matrix"
    """One matrix: (batch, features)."""
    TOKENS = "tokens"
    """(batch, length, features)."""
    MATRICES = "matrices"
    """A matrix for each element of a batch: (batch, rows, features)."""
    SQUARE = "square"
    """A square matrix for each element of a batch."""
    HEADS = "heads"
    """(batch, heads, length, features)."""
    SEQUENCE = "sequence"
    """(batch, channels, length)."""
    IMAGE = "image"
    """(batch, channels, height, width)."""
    VOLUME = "volume"
    """(batch, channels, depth, height, width)."""
    INDICES = "indices"
    """Whole numbers: (batch, length). Only the first operator of a task can take them."""


AXES: dict[Layout, tuple[str, ...]] = {
    Layout.MATRIX: ("batch", "features"),
    Layout.TOKENS: ("batch", "length", "features"),
    Layout.MATRICES: ("batch", "rows", "features"),
    Layout.SQUARE: ("batch", "rows", "features"),
    Layout.HEADS: ("batch", "heads", "length", "features"),
    Layout.SEQUENCE: ("batch", "channels", "length"),
    Layout.IMAGE: ("batch", "channels", "height", "width"),
    Layout.VOLUME: ("batch", "channels", "depth", "height", "width"),
    Layout.INDICES: ("batch", "length"),
}
"""Names of the axes, for the layouts that have a fixed number of them."""


class Domain(StrEnum):
    """Which values an operator bears."""

    REAL = "real"
    """All."""
    POSITIVE = "positive"
    """Above zero."""
    ABOVE_ONE = "above_one"
    """Larger than 1: what acosh bears."""
    UNIT = "unit"
    """Between minus one and one."""
    SHARE = "share"
    """Between zero and one."""


class OperandKind(StrEnum):
    """What a further tensor of an operator is."""

    EITHER = "either"
    """An input of the task or a weight of the model, as the composer chooses."""
    INPUT = "input"
    """An input of the task."""
    POSITIVE = "positive"
    """An input of the task with values above zero."""
    SHARE = "share"
    """An input of the task with values between zero and one."""
    WEIGHT = "weight"
    """A weight of the model, scaled so that sums keep their size."""
    INDEX = "index"
    """An input of whole numbers below `bound`."""
    MASK = "mask"
    """An input of booleans."""
    SIGN = "sign"
    """An input of ones and minus ones."""


class Operand(Record):
    """A further tensor that an operator takes."""

    kind: OperandKind = OperandKind.EITHER
    """What it is."""
    shape: tuple[str, ...] = ("*",)
    """Its axes: numbers, names of axes or choices, `*` for all axes of x, `*:-1` for all but the last."""
    bound: str = ""
    """For whole numbers: the axis or choice that they stay below."""


class Operator(Record):
    """A torch operator or a transformers block, with all that is needed to write it into a program."""

    name: str
    """Where it is: torch.nn.Conv2d."""
    layout: Layout
    """How it reads its tensor."""
    template: str
    """A constructor, or an expression of `{x}`; names in braces are axes, choices and operands."""
    call: str = "{module}({x})"
    """How a constructed module is called."""
    choices: dict[str, tuple[str, ...]] = {}
    """What may stand for a name: Python literals."""
    operands: dict[str, Operand] = {}
    """Its further tensors, by name."""
    domain: Domain = Domain.REAL
    """Which values it bears."""
    imports: tuple[str, ...] = ()
    """Import statements it needs beside torch's."""
    tags: tuple[str, ...] = ()
    """What it belongs to: convolution, norm, pooling, ..."""

    @property
    def package(self) -> str:
        """Torch or transformers."""
        return self.name.partition(".")[0]

    @property
    def is_module(self) -> bool:
        """Whether it is constructed before it is called."""
        return "{x}" not in self.template

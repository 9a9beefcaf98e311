"""The words of a canonical graph: what each operation is and roughly what it costs."""

from enum import StrEnum


class Lane(StrEnum):
    """How a value is held while it is computed with, whatever its dtype in memory."""

    F32 = "f32"
    """float32; also holds float16 and bfloat16, which are widened when loaded."""
    F64 = "f64"
    """float64."""
    I64 = "i64"
    """Every integer."""
    BOOL = "bool"
    """A truth value."""


LANES = {
    "float32": Lane.F32,
    "float16": Lane.F32,
    "bfloat16": Lane.F32,
    "float64": Lane.F64,
    "int64": Lane.I64,
    "int32": Lane.I64,
    "int16": Lane.I64,
    "int8": Lane.I64,
    "uint8": Lane.I64,
    "bool": Lane.BOOL,
}
"""Which lane holds a dtype; a dtype that is not here cannot be handled."""

DTYPE_BYTES = {
    "float64": 8, "int64": 8, "float32": 4, "int32": 4, "float16": 2, "bfloat16": 2, "int16": 2, "int8": 1,
    "uint8": 1, "bool": 1,
}  # fmt: skip
"""Bytes of one element."""

_ORDER = (Lane.BOOL, Lane.I64, Lane.F32, Lane.F64)

POINTWISE = {
    "add": 1, "sub": 1, "mul": 1, "neg": 1, "abs": 1, "maximum": 1, "minimum": 1, "where": 1, "cast": 1,
    "eq": 1, "ne": 1, "lt": 1, "le": 1, "gt": 1, "ge": 1, "logical_and": 1, "logical_or": 1, "logical_not": 1,
    "logical_xor": 1, "isnan": 1, "floor": 1, "ceil": 1, "round": 1, "trunc": 1, "div": 4, "reciprocal": 4,
    "sqrt": 5, "rsqrt": 6, "exp": 12, "expm1": 16, "log": 14, "log1p": 16, "tanh": 20, "sigmoid": 16,
    "erf": 20, "sin": 20, "cos": 20, "pow": 60, "atan": 20, "asin": 20, "acos": 20, "atan2": 26, "fmod": 30,
    "lgamma": 100, "digamma": 100, "erfinv": 100, "i0": 100,
}  # fmt: skip
"""Operations element by element, with their cost in vector instructions, roughly."""

SPECIAL = ("lgamma", "digamma", "erfinv", "i0")
"""Pointwise operations that are computed in float64, one element after the other."""

ROUNDED = {"float16": "round_float16", "bfloat16": "round_bfloat16"}
"""What a value of these dtypes went through: it is held in a wider lane."""

COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge", "isnan")
"""Pointwise operations whose operands may be of any lane while their result is a truth value."""

TRUTHS = (*COMPARISONS, "logical_and", "logical_or", "logical_xor", "logical_not")
"""Pointwise operations whose result is a truth value."""

DEAR = 10
"""From this cost on a value is worth keeping rather than computing twice."""

REDUCTIONS = ("sum", "amax", "amin", "prod")
"""Reductions over some dimensions, which disappear."""

RUNNING = ("cumsum", "cumprod", "cummax", "cummin", "logcumsumexp")
"""What has been seen so far along one dimension, combined."""

TRAVERSALS = (*RUNNING, "sort")
"""What goes along one dimension, line by line: a step of its own in a plan."""

PRODUCT = "matmul"
"""The product of two matrices, or of two batches of matrices: a step of its own in a plan."""


def find_common_lane(lanes: list[Lane]) -> Lane:
    """The lane that holds all of these without loss, as far as there is one."""
    return max(lanes, key=_ORDER.index)

"""Pieces of C++ that both targets share: names, types and addresses."""

from cuda_agent.expert.ops import Lane
from cuda_agent.expert.plan import Access, Kernel

SCALARS = {Lane.F32: "float", Lane.F64: "double", Lane.I64: "int64_t", Lane.BOOL: "bool"}
"""The C++ type that holds one element of a lane."""

REDUCERS = {
    "reduce_sum": "Sum",
    "reduce_prod": "Product",
    "reduce_amax": "Largest",
    "reduce_amin": "Smallest",
}
"""The functor of each reduction."""


def write_literal(value: float | int | bool, lane: Lane) -> str:
    """A number as C++ of the lane's scalar type."""
    if lane is Lane.BOOL:
        return "true" if value else "false"
    if lane is Lane.I64:
        return f"int64_t({int(value)})"
    kind = SCALARS[lane]
    number = float(value)
    if number != number:
        return f"std::numeric_limits<{kind}>::quiet_NaN()"
    if number in (float("inf"), float("-inf")):
        infinity = f"std::numeric_limits<{kind}>::infinity()"
        return infinity if number > 0 else f"(-{infinity})"
    text = f"{number!r}f" if lane is Lane.F32 else repr(number)
    return f"({text})" if number < 0 else text


def write_neutral(op: str, lane: Lane) -> str:
    """The neutral element of a reduction, as a scalar of the lane."""
    kind = SCALARS[lane]
    if op == "reduce_sum":
        return write_literal(0, lane)
    if op == "reduce_prod":
        return write_literal(1, lane)
    least = op == "reduce_amax"
    if lane is Lane.I64:
        return f"std::numeric_limits<{kind}>::{'lowest' if least else 'max'}()"
    return write_literal(float("-inf") if least else float("inf"), lane)


def name_counters(kernel: Kernel) -> list[str]:
    """C++ names of the counters: r0, r1 ... for rows, c0 ... for columns, j for the innermost."""
    rows = [f"r{place}" for place in range(len(kernel.outer))]
    return [*rows, *(f"c{place}" for place in range(len(kernel.cols))), "j"]


def write_position(kernel: Kernel, access: Access, *, inner: str | None = "j") -> str:
    """An element's position as a C++ expression; `inner=None` leaves the innermost counter out."""
    names = name_counters(kernel)
    names[-1] = inner or ""
    parts = [
        name if coefficient == 1 else f"{name} * {coefficient}"
        for counter, coefficient in access.terms
        if (name := names[counter])
    ]
    parts += [f"v{pick}" if c == 1 else f"v{pick} * {c}" for pick, c in access.picks]
    if access.offset or not parts:
        parts.append(str(access.offset))
    return " + ".join(parts)


def write_name(kernel: Kernel, number: int) -> str:
    """A value as an operand: its name, or the number that it is."""
    value = kernel.values[number]
    if value.op == "literal":
        assert value.literal is not None
        return write_literal(value.literal, value.lane)
    return f"v{number}"

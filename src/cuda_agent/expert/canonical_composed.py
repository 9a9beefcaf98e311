"""Pointwise operations that are a few of ours: one table, a line or two an operation.

In a composition `x` and `y` are the operands, `s0`, `s1` ... the steps before.
"""

from pydantic import JsonValue

from cuda_agent.expert import ops
from cuda_agent.expert.canonical import Draft, Rule, UnsupportedError, get_operand
from cuda_agent.expert.graph import Node

INFINITY = float("inf")
PI = 3.141592653589793

Steps = tuple[tuple[str, tuple[str | float, ...]], ...]
"""Word and operands of each step."""

UNARY: dict[str, Steps] = {
    "relu": (("maximum", ("x", 0.0)),),
    "square": (("mul", ("x", "x")),),
    "silu": (("sigmoid", ("x",)), ("mul", ("x", "s0"))),
    "erfc": (("erf", ("x",)), ("sub", (1.0, "s0"))),
    "tan": (("sin", ("x",)), ("cos", ("x",)), ("div", ("s0", "s1"))),
    "cosh": (("exp", ("x",)), ("reciprocal", ("s0",)), ("add", ("s0", "s1")), ("mul", ("s2", 0.5))),
    # 2 sinh(x/2) cosh(x/2), which neither cancels nor overflows early.
    "sinh": (
        ("mul", ("x", 0.5)), ("neg", ("s0",)), ("expm1", ("s0",)), ("expm1", ("s1",)), ("sub", ("s2", "s3")),
        ("add", ("s2", "s3")), ("mul", ("s5", 0.5)), ("add", ("s6", 1.0)), ("mul", ("s4", "s7")),
    ),
    "acosh": (
        ("sub", ("x", 1.0)), ("add", ("s0", 2.0)), ("mul", ("s0", "s1")), ("sqrt", ("s2",)),
        ("add", ("s0", "s3")), ("log1p", ("s4",)),
    ),
    # log1p(a + a^2 / (1 + sqrt(a^2 + 1))) with the sign of x; log(2a) where the square would overflow.
    "asinh": (
        ("abs", ("x",)), ("mul", ("s0", "s0")), ("add", ("s1", 1.0)), ("sqrt", ("s2",)), ("add", ("s3", 1.0)),
        ("div", ("s0", "s4")), ("mul", ("s0", "s5")), ("gt", ("s0", 1e9)), ("where", ("s7", "s0", "s6")),
        ("add", ("s0", "s8")), ("log1p", ("s9",)), ("neg", ("s10",)), ("lt", ("x", 0.0)),
        ("where", ("s12", "s11", "s10")),
    ),
    "atanh": (
        ("abs", ("x",)), ("sub", (1.0, "s0")), ("div", ("s0", "s1")), ("mul", ("s2", 2.0)),
        ("log1p", ("s3",)), ("mul", ("s4", 0.5)), ("neg", ("s5",)), ("lt", ("x", 0.0)),
        ("where", ("s7", "s6", "s5")),
    ),
    "exp2": (("mul", ("x", 0.6931471805599453)), ("exp", ("s0",))),
    "log2": (("log", ("x",)), ("mul", ("s0", 1.4426950408889634))),
    "log10": (("log", ("x",)), ("mul", ("s0", 0.4342944819032518))),
    "sign": (
        ("gt", ("x", 0.0)), ("lt", ("x", 0.0)), ("cast", ("s0",)), ("cast", ("s1",)), ("sub", ("s2", "s3")),
    ),
    "angle": (
        ("lt", ("x", 0.0)), ("where", ("s0", PI, 0.0)), ("isnan", ("x",)), ("where", ("s2", "x", "s1")),
    ),
    "isinf": (("abs", ("x",)), ("eq", ("s0", INFINITY))),
}  # fmt: skip
"""Operations on one tensor."""

BINARY: dict[str, Steps] = {
    # The smaller over the larger, so that no square overflows.
    "hypot": (
        ("abs", ("x",)), ("abs", ("y",)), ("maximum", ("s0", "s1")), ("minimum", ("s0", "s1")),
        ("div", ("s3", "s2")), ("mul", ("s4", "s4")), ("add", ("s5", 1.0)), ("sqrt", ("s6",)),
        ("mul", ("s2", "s7")), ("eq", ("s2", 0.0)), ("eq", ("s2", INFINITY)), ("logical_or", ("s9", "s10")),
        ("where", ("s11", "s2", "s8")),
    ),
    # -0 has a sign too: its reciprocal shows it.
    "copysign": (
        ("abs", ("x",)), ("neg", ("s0",)), ("div", (1.0, "y")), ("lt", ("s2", 0.0)), ("lt", ("y", 0.0)),
        ("logical_or", ("s3", "s4")), ("where", ("s5", "s1", "s0")),
    ),
    "fmax": (
        ("maximum", ("x", "y")), ("isnan", ("x",)), ("isnan", ("y",)), ("where", ("s2", "x", "s0")),
        ("where", ("s1", "y", "s3")),
    ),
    "fmin": (
        ("minimum", ("x", "y")), ("isnan", ("x",)), ("isnan", ("y",)), ("where", ("s2", "x", "s0")),
        ("where", ("s1", "y", "s3")),
    ),
    # The remainder of fmod, moved to the sign of the divisor.
    "remainder": (
        ("fmod", ("x", "y")), ("lt", ("s0", 0.0)), ("lt", ("y", 0.0)), ("logical_xor", ("s1", "s2")),
        ("ne", ("s0", 0.0)), ("logical_and", ("s3", "s4")), ("add", ("s0", "y")),
        ("where", ("s5", "s6", "s0")),
    ),
    # What is left after the remainder is a multiple of the divisor, give or take a rounding.
    "floor_divide": (
        ("fmod", ("x", "y")), ("lt", ("s0", 0.0)), ("lt", ("y", 0.0)), ("logical_xor", ("s1", "s2")),
        ("ne", ("s0", 0.0)), ("logical_and", ("s3", "s4")), ("sub", ("x", "s0")), ("div", ("s6", "y")),
        ("round", ("s7",)), ("sub", ("s8", 1.0)), ("where", ("s5", "s9", "s8")), ("div", ("x", "y")),
        ("eq", ("y", 0.0)), ("where", ("s12", "s11", "s10")),
    ),
    "fmod": (("fmod", ("x", "y")),),
    "atan2": (("atan2", ("x", "y")),),
}  # fmt: skip
"""Operations on two operands, of which one may be a number; of floating tensors only, but for remainders."""


def write_composed(steps: Steps, *, keys: tuple[str, ...]) -> Rule:
    """A rule for a composition; `keys` names the arguments that are `x` and `y`."""

    def rule(draft: Draft, node: Node) -> str:
        if len(keys) > 1 and not (node.dtype.startswith(("float", "bfloat")) or is_whole(steps)):
            raise UnsupportedError(f"{node.op} of {node.dtype} is beyond me")
        known: dict[str, JsonValue] = {
            name: get_operand(draft, node.args[key]) for name, key in zip("xy", keys, strict=False)
        }
        for place, (op, operands) in enumerate(steps):
            resolved = [known[item] if isinstance(item, str) else item for item in operands]
            known[f"s{place}"] = write_step(draft, op, operands=resolved, like=node)
        return str(known[f"s{len(steps) - 1}"])

    return rule


def is_whole(steps: Steps) -> bool:
    """Whether a composition holds for whole numbers too: it is a remainder."""
    return steps in (BINARY["fmod"], BINARY["remainder"])


def write_step(draft: Draft, op: str, *, operands: list[JsonValue], like: Node) -> JsonValue:
    """One step; a step of numbers alone is written as a tensor of the first number, which folds away."""
    if not any(isinstance(item, str) for item in operands):
        first = draft.add("full", {"value": operands[0]}, shape=(), dtype=like.dtype)
        operands = [first, *operands[1:]]
    dtype = like.dtype if like.dtype != "bool" or op in ops.TRUTHS else find_dtype(draft, operands)
    return draft.point(op, operands, like=like.model_copy(update={"dtype": dtype}))


def find_dtype(draft: Draft, operands: list[JsonValue]) -> str:
    """The dtype of the first operand that is a tensor."""
    return next(draft.dtypes[item] for item in operands if isinstance(item, str))


def write_div(draft: Draft, node: Node) -> str:
    """Division, with its rounding modes."""
    mode = node.args.get("rounding_mode")
    if mode == "floor":
        return write_composed(BINARY["floor_divide"], keys=("self", "other"))(draft, node)
    operands = [get_operand(draft, node.args[key]) for key in ("self", "other")]
    quotient = draft.point("div", operands, like=node)
    if mode is None:
        return quotient
    if ops.LANES[node.dtype] is ops.Lane.I64:
        raise UnsupportedError("integer division is beyond me")
    return draft.point("trunc", [quotient], like=node)


COMPOSED: dict[str, Rule] = {
    **dict.fromkeys(("div", "true_divide", "prims.div"), write_div),
    **{op: write_composed(steps, keys=("self",)) for op, steps in UNARY.items()},
    **{op: write_composed(steps, keys=("self", "other")) for op, steps in BINARY.items()},
}
"""A rule for each of them."""

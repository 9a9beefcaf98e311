"""Whether a program consists of what its label says, and whether it draws random numbers."""

import ast
from collections.abc import Iterator

from cuda_agent.synthesis.normal import find_aliases, parse_program, resolve_name

_SYMBOLS = {
    ast.Add: ("add",),
    ast.Sub: ("sub", "subtract", "rsub"),
    ast.Mult: ("mul", "multiply"),
    ast.Div: ("div", "divide", "true_divide"),
    ast.FloorDiv: ("floor_divide",),
    ast.Mod: ("remainder",),
    ast.Pow: ("pow",),
    ast.MatMult: ("matmul", "mm", "bmm"),
    ast.USub: ("neg", "negative"),
    ast.Gt: ("gt", "greater"),
    ast.Lt: ("lt", "less"),
}
_RANDOM_MODULES = {
    "Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "AlphaDropout", "FeatureAlphaDropout", "RReLU",
    "FractionalMaxPool2d", "FractionalMaxPool3d",
}  # fmt: skip
_RANDOM_CALLS = {
    "dropout", "dropout1d", "dropout2d", "dropout3d", "alpha_dropout", "feature_alpha_dropout",
    "rand", "randn", "randint", "randperm", "rand_like", "randn_like", "randint_like", "bernoulli",
    "bernoulli_", "multinomial", "normal", "normal_", "uniform_", "exponential_", "random_", "poisson",
    "gumbel_softmax", "rrelu",
    "fractional_max_pool2d", "fractional_max_pool3d",
}  # fmt: skip


def find_missing_operators(code: str, ops: tuple[str, ...]) -> tuple[str, ...]:
    """Declared operators that occur nowhere in the program's classes.

    An operator occurs as a call by its last name (`relu`, `Conv2d`), a tensor's method, or a symbol (`@`).

    Raises:
        ValueError: it does not parse.
    """
    tree = parse_program(code)
    found = set(_list_names(tree))
    return tuple(name for name in ops if name.rpartition(".")[2] not in found)


def find_random_operator(code: str) -> str:
    """An operator that draws random numbers when the program runs; empty when none is named in it.

    Random weights, drawn in a constructor, are no such thing; dropout is, though it does nothing here.

    Raises:
        ValueError: it does not parse.
    """
    tree = parse_program(code)
    aliases = find_aliases(tree)
    for method in _list_methods(tree):
        for node in ast.walk(method):
            if isinstance(node, ast.Call):
                name = _read_last_name(node.func, aliases)
                is_random = name in _RANDOM_MODULES or (name in _RANDOM_CALLS and method.name != "__init__")
                if is_random and not _is_never(node):
                    return name
    return ""


def _is_never(call: ast.Call) -> bool:
    """Whether a dropout's probability is written as zero."""
    values = [*call.args[:1], *(keyword.value for keyword in call.keywords if keyword.arg == "p")]
    return any(isinstance(value, ast.Constant) and value.value == 0 for value in values)


def _list_names(tree: ast.Module) -> Iterator[str]:
    aliases = find_aliases(tree)
    for class_ in (node for node in tree.body if isinstance(node, ast.ClassDef)):
        for node in ast.walk(class_):
            if isinstance(node, ast.Name | ast.Attribute):
                yield _read_last_name(node, aliases)
            elif isinstance(node, ast.BinOp | ast.UnaryOp | ast.AugAssign):
                yield from _SYMBOLS.get(type(node.op), ())
            elif isinstance(node, ast.Compare):
                yield from _SYMBOLS.get(type(node.ops[0]), ())


def _list_methods(tree: ast.Module) -> Iterator[ast.FunctionDef]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            yield from (part for part in node.body if isinstance(part, ast.FunctionDef))


def _read_last_name(node: ast.expr, aliases: dict[str, str]) -> str:
    """`Conv2d` of `nn.Conv2d`, `sum` of `x.sum`; an own attribute or a local name is none."""
    if resolved := resolve_name(node, aliases):
        return resolved.rpartition(".")[2]
    is_own = isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"
    return node.attr if isinstance(node, ast.Attribute) and not is_own else ""

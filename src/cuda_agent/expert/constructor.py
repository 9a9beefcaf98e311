"""The constructor of ModelNew: the reference's arguments, and holders for its parameters."""

import ast
from collections.abc import Iterable

from cuda_agent.expert.graph import Origin, Source


class SignatureError(ValueError):
    """The reference's class is not written in a way that can be followed; says what is missing."""


def find_model(source: str) -> ast.ClassDef:
    """The class `Model` of a reference program.

    Raises:
        SignatureError: there is none at the top level.
    """
    for node in ast.parse(source).body:
        if isinstance(node, ast.ClassDef) and node.name == "Model":
            return node
    raise SignatureError("the reference has no class Model at its top level")


def find_method(model: ast.ClassDef, name: str) -> ast.FunctionDef | None:
    """A method of the class, or None when it inherits it."""
    return next(
        (node for node in model.body if isinstance(node, ast.FunctionDef) and node.name == name), None
    )


def write_arguments(method: ast.FunctionDef | None) -> str:
    """A method's arguments without annotations; defaults that name something elsewhere become None."""
    if method is None:
        return "self"
    bare = ast.parse(ast.unparse(method.args).join(("def f(", "): pass"))).body[0]
    assert isinstance(bare, ast.FunctionDef)
    arguments = bare.args
    everything = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    for argument in [*everything, arguments.vararg, arguments.kwarg]:
        if argument is not None:
            argument.annotation = None
    everything[0].arg = "self"
    none = ast.Constant(None)
    arguments.defaults = [item if is_plain(item) else none for item in arguments.defaults]
    arguments.kw_defaults = [
        item if item is None or is_plain(item) else none for item in arguments.kw_defaults
    ]
    return ast.unparse(arguments)


def is_plain(node: ast.expr) -> bool:
    """Whether an expression is made of literals only."""
    names = (ast.Name, ast.Call, ast.Attribute, ast.Lambda)
    return not any(isinstance(part, names) for part in ast.walk(node))


def write_holders(holders: Iterable[Source]) -> list[str]:
    """Statements that make every parameter and buffer of the state dict, nested as in the reference."""
    lines = []
    made: set[str] = set()
    for source in holders:
        if not source.persistent:
            continue
        *path, leaf = source.path.split(".")
        owner = "self"
        for place, part in enumerate(path):
            whole = ".".join(path[: place + 1])
            if whole not in made:
                made.add(whole)
                lines.append(f"{owner}.add_module({part!r}, nn.Module())")
            owner = f"{owner}.{part}" if part.isidentifier() else f"{owner}.get_submodule({part!r})"
        empty = f"torch.empty({list(source.shape)}, dtype=torch.{source.dtype})"
        if source.origin is Origin.PARAMETER:
            trained = "" if source.dtype.startswith(("float", "bfloat")) else ", requires_grad=False"
            lines.append(f"{owner}.register_parameter({leaf!r}, nn.Parameter({empty}{trained}))")
        else:
            lines.append(f"{owner}.register_buffer({leaf!r}, {empty})")
    return lines


def write_held(source: Source) -> str:
    """A held tensor as an expression in `forward`."""
    if all(part.isidentifier() for part in source.path.split(".")):
        return f"self.{source.path}"
    getter = "get_parameter" if source.origin is Origin.PARAMETER else "get_buffer"
    return f"self.{getter}({source.path!r})"


def write_constant(source: Source) -> str:
    """A small constant tensor, written out."""
    assert source.values is not None, f"{source.name} is not small"
    kind = float if source.dtype.startswith(("float", "bfloat")) else int
    values = ", ".join(repr(kind(item)) for item in source.values)
    tensor = f"torch.tensor([{values}], dtype=torch.{source.dtype})"
    return tensor if source.shape == (len(source.values),) else f"{tensor}.reshape({list(source.shape)})"

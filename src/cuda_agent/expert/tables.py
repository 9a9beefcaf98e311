"""Tables that a constructor computes and that the state dict does not hold: carry their code over."""

import ast
import builtins

from cuda_agent.expert.constructor import SignatureError, find_method, find_model


def find_names(node: ast.AST) -> set[str]:
    """Names, and attributes of `self` as `self.x`, that a piece of code reads."""
    found = {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
    return found | find_attributes(node, ast.Load)


def find_attributes(node: ast.AST, context: type[ast.expr_context]) -> set[str]:
    """Attributes of `self` that a piece of code reads or sets."""
    return {
        f"self.{n.attr}"
        for n in ast.walk(node)
        if isinstance(n, ast.Attribute)
        and isinstance(n.value, ast.Name)
        and n.value.id == "self"
        and isinstance(n.ctx, context)
    }


def find_bound(node: ast.AST) -> set[str]:
    """Names, and attributes of `self`, that a statement sets; a registered buffer counts as one."""
    found = {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    found |= find_attributes(node, ast.Store)
    for call in (n for n in ast.walk(node) if isinstance(n, ast.Call)):
        if ast.unparse(call.func) == "self.register_buffer" and call.args:
            name = call.args[0]
            if isinstance(name, ast.Constant) and isinstance(name.value, str):
                found.add(f"self.{name.value}")
    return found


def slice_statements(body: list[ast.stmt], wanted: set[str]) -> tuple[list[ast.stmt], set[str]]:
    """The statements that compute `wanted`, in order, and all names that they read."""
    kept: list[ast.stmt] = []
    wanted = set(wanted)
    for statement in reversed(body):
        if find_bound(statement) & wanted:
            kept.append(statement)
            wanted |= find_names(statement)
    return list(reversed(kept)), wanted


def carry_tables(source: str, paths: list[str]) -> tuple[list[str], list[str]]:
    """Lines for the top of the module and for ModelNew's constructor that compute these attributes.

    Raises:
        SignatureError: an attribute belongs to a nested module, or no statement of the constructor sets it.
    """
    nested = [path for path in paths if "." in path]
    method = find_method(find_model(source), "__init__")
    if nested or method is None:
        raise SignatureError(
            f"a nested module keeps a table outside the state dict ({', '.join(nested or paths)})"
        )
    renamed = rename_self(method)
    wanted = {f"self.{path}" for path in paths}
    statements, names = slice_statements(renamed.body, wanted)
    missing = wanted - set().union(*(find_bound(statement) for statement in statements), set())
    if missing:
        raise SignatureError(f"the constructor does not set {', '.join(sorted(missing))} plainly")
    top = [node for node in ast.parse(source).body if not isinstance(node, ast.ClassDef)]
    outer, _ = slice_definitions(top, names - {argument.arg for argument in renamed.args.args})
    return [ast.unparse(node) for node in outer], [ast.unparse(node) for node in statements]


def rename_self(method: ast.FunctionDef) -> ast.FunctionDef:
    """The method with its first argument called `self`."""
    own = method.args.args[0].arg
    for node in ast.walk(method):
        if isinstance(node, ast.Name) and node.id == own:
            node.id = "self"
    method.args.args[0].arg = "self"
    return method


def slice_definitions(body: list[ast.stmt], names: set[str]) -> tuple[list[ast.stmt], set[str]]:
    """Imports, constants and functions at the top of a module that define `names`, in order."""
    kept: list[ast.stmt] = []
    present = {*dir(builtins), "torch", "nn", "self"}
    wanted = names - present
    for statement in reversed(body):
        if isinstance(statement, ast.Import | ast.ImportFrom):
            bound = {(alias.asname or alias.name).split(".")[0] for alias in statement.names}
        elif isinstance(statement, ast.FunctionDef):
            bound = {statement.name}
        else:
            bound = find_bound(statement)
        if bound & wanted:
            kept.append(statement)
            wanted |= find_names(statement) - present
    return list(reversed(kept)), wanted

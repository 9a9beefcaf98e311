"""A program's normal form: what is left when names, comments, annotations and sizes do not count."""

import ast
import builtins
import warnings

_KEPT = {*dir(builtins), "Model", "get_inputs", "get_init_inputs", "forward", "self"}


def parse_program(code: str) -> ast.Module:
    """The syntax tree of a program that others may have written.

    Raises:
        ValueError: it does not parse; says where.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(code)
    except SyntaxError as error:
        raise ValueError(f"line {error.lineno or 1}: {error.msg}") from error
    except (ValueError, RecursionError, MemoryError) as error:
        raise ValueError(f"Python cannot parse it: {error}") from error


def compute_normal_form(code: str) -> str:
    """A text that is equal for programs that compute the same in the same way, but for sizes and names.

    Docstrings, annotations and defaults' names go, names are numbered as they come, and numbers outside of
    classes (sizes, and the arguments of constructors) are all one. `F.relu` and `torch.nn.functional.relu`
    are the same name.

    Raises:
        ValueError: it does not parse.
    """
    tree = parse_program(code)
    aliases = find_aliases(tree)
    body = [
        node for node in tree.body if not isinstance(node, ast.Import | ast.ImportFrom) and not _is_text(node)
    ]
    normal = _Normaliser(aliases)
    return "\n".join(ast.dump(normal.visit(node)) for node in sorted(body, key=_rank))


def find_aliases(tree: ast.Module) -> dict[str, str]:
    """What each imported name stands for, as a dotted name."""
    found: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                found[alias.asname or alias.name.partition(".")[0]] = (
                    alias.name if alias.asname else alias.name.partition(".")[0]
                )
        elif isinstance(node, ast.ImportFrom):
            found |= {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
    return found


def resolve_name(node: ast.expr, aliases: dict[str, str]) -> str:
    """The dotted name that an expression is, through imports; empty for anything else."""
    if isinstance(node, ast.Name):
        return aliases.get(node.id, "")
    if isinstance(node, ast.Attribute) and (owner := resolve_name(node.value, aliases)):
        return f"{owner}.{node.attr}"
    return ""


def _rank(node: ast.stmt) -> int:
    """Classes first: where constants and functions stand does not matter, so names are numbered alike."""
    return 0 if isinstance(node, ast.ClassDef) else 1 if isinstance(node, ast.FunctionDef) else 2


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


class _Normaliser(ast.NodeTransformer):
    """Rewrites a statement in place."""

    def __init__(self, aliases: dict[str, str]) -> None:
        self._aliases = aliases
        self._names: dict[str, str] = {}
        self._depth = 0

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        self._depth += 1
        node.body = [part for part in node.body if not _is_text(part)]
        node.name = self._number(node.name)
        self.generic_visit(node)
        self._depth -= 1
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.body = [part for part in node.body if not _is_text(part)] or [ast.Pass()]
        node.returns = None
        node.name = node.name if node.name.startswith("__") else self._number(node.name)
        self.generic_visit(node)
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        value = node.value or ast.Constant(None)
        return self.visit(ast.copy_location(ast.Assign(targets=[node.target], value=value), node))  # type: ignore[no-any-return]

    def visit_arg(self, node: ast.arg) -> ast.AST:
        return ast.arg(arg=self._number(node.arg))

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return ast.Name(id=resolve_name(node, self._aliases) or self._number(node.id), ctx=node.ctx)

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        if resolved := resolve_name(node, self._aliases):
            return ast.Name(id=resolved, ctx=node.ctx)
        if isinstance(node.value, ast.Name) and node.value.id == "self":
            return ast.Name(id=self._number(f"self.{node.attr}"), ctx=node.ctx)
        self.generic_visit(node)
        return node

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        is_size = isinstance(node.value, int | float) and not isinstance(node.value, bool) and not self._depth
        return ast.Constant(0) if is_size else node

    def _number(self, name: str) -> str:
        return name if name in _KEPT else self._names.setdefault(name, f"v{len(self._names)}")

"""A program's normal form: what is left when names, comments, annotations and sizes do not count."""

import ast
import builtins
import warnings
from collections.abc import Iterator

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


def compute_normal_form(code: str, *, keeps_sizes: bool = False) -> str:
    """A text that is equal for programs that compute the same in the same way, but for sizes and names.

    Docstrings and annotations go, names are numbered as they come, and numbers outside of classes (sizes, and
    the arguments of constructors) are all one, whether written in place or as constants. `F.relu` and
    `torch.nn.functional.relu` are the same name. With `keeps_sizes` sizes count, written out.

    Raises:
        ValueError: it does not parse.
    """
    tree = parse_program(code)
    sizes = {name: value for node in tree.body for name, value in _list_sizes(node)}
    normal = _Normaliser(find_aliases(tree), sizes, keeps_sizes=keeps_sizes)
    body = [node for node in tree.body if not _is_aside(node) and not any(_list_sizes(node))]
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


def _rank(node: ast.stmt) -> tuple[int, str]:
    """Classes first, then functions by their names: names are numbered alike wherever these stand."""
    if isinstance(node, ast.FunctionDef):
        return 1, node.name
    return (0, "") if isinstance(node, ast.ClassDef) else (2, "")


def _is_aside(node: ast.stmt) -> bool:
    is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    return is_text or isinstance(node, ast.Import | ast.ImportFrom)


def _list_sizes(node: ast.stmt) -> Iterator[tuple[str, ast.expr]]:
    """Names that a statement at module level binds to numbers, or to what is computed of numbers alone."""
    if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
        parts = (ast.Constant, ast.Tuple, ast.List, ast.UnaryOp, ast.BinOp, ast.Name)
        beside = (ast.operator, ast.unaryop, ast.expr_context)
        if all(isinstance(part, (*parts, *beside)) for part in ast.walk(node.value)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            yield from ((target.id, node.value) for target in targets if isinstance(target, ast.Name))


class _Normaliser(ast.NodeTransformer):
    """Rewrites a statement in place."""

    def __init__(self, aliases: dict[str, str], sizes: dict[str, ast.expr], *, keeps_sizes: bool) -> None:
        self._aliases = aliases
        self._sizes = sizes
        self._keeps_sizes = keeps_sizes
        self._scopes: list[dict[str, str]] = [{}]
        self._is_in_class = False

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        self._is_in_class = True
        node.body = [part for part in node.body if not _is_aside(part)]
        node.name = self._number(node.name)
        self.generic_visit(node)
        self._is_in_class = False
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.body = [part for part in node.body if not _is_aside(part)] or [ast.Pass()]
        node.returns = None
        node.name = node.name if node.name.startswith("__") else self._number(node.name)
        local = [part.arg for part in ast.walk(node.args) if isinstance(part, ast.arg)]
        stores = (part for part in ast.walk(node) if isinstance(part, ast.Name))
        local += [part.id for part in stores if isinstance(part.ctx, ast.Store)]
        names = dict.fromkeys(name for name in local if name != "self")
        self._scopes.append({name: f"local{index}" for index, name in enumerate(names)})
        self.generic_visit(node)
        self._scopes.pop()
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        value = node.value or ast.Constant(None)
        assign = ast.Assign(targets=[node.target], value=value)
        self.generic_visit(assign)
        return assign

    def visit_arg(self, node: ast.arg) -> ast.AST:
        return ast.arg(arg=self._number(node.arg))

    def visit_Name(self, node: ast.Name) -> ast.AST:
        is_local = any(node.id in scope for scope in self._scopes[1:])
        if node.id in self._sizes and not is_local:
            return self._sizes[node.id] if self._keeps_sizes else ast.Constant(0)
        return ast.Name(id=resolve_name(node, self._aliases) or self._number(node.id), ctx=node.ctx)

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        if resolved := resolve_name(node, self._aliases):
            return ast.Name(id=resolved, ctx=node.ctx)
        if isinstance(node.value, ast.Name) and node.value.id == "self":
            return ast.Name(id=self._number(f"self.{node.attr}"), ctx=node.ctx)
        self.generic_visit(node)
        return node

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        is_number = isinstance(node.value, int | float) and not isinstance(node.value, bool)
        return ast.Constant(0) if is_number and not self._is_in_class and not self._keeps_sizes else node

    def _number(self, name: str) -> str:
        if name in _KEPT:
            return name
        scope = next((scope for scope in reversed(self._scopes) if name in scope), self._scopes[0])
        return scope.setdefault(name, f"v{len(scope)}")

"""How like a KernelBench task a program is, and which one (defined in docs/design/synthesis.md)."""

import ast
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from cuda_agent.config import Record
from cuda_agent.errors import UserError
from cuda_agent.synthesis.normal import find_aliases, parse_program, resolve_name

_LONGEST = 3


class Nearest(Record):
    """The most similar of the known tasks."""

    name: str
    """Its file's name, level included; empty when there are none."""
    similarity: float
    """Between 0 and 1."""


@dataclass(frozen=True)
class Print:
    """A program as a bag of short runs of syntax."""

    runs: Counter[tuple[str, ...]]
    """How often each run of one to three symbols occurs."""

    def compare(self, other: "Print") -> float:
        """Dice's coefficient of the two bags: twice what they share, over all there is."""
        total = self.runs.total() + other.runs.total()
        if not total:
            return 0.0
        small, large = sorted((self.runs, other.runs), key=len)
        return 2.0 * sum(min(count, large.get(run, 0)) for run, count in small.items()) / total


def compute_print(code: str) -> Print:
    """A program's print: what its classes do, with every name and every number of its own alike.

    Raises:
        ValueError: it does not parse.
    """
    tree = parse_program(code)
    aliases = find_aliases(tree)
    runs: Counter[tuple[str, ...]] = Counter()
    for function in _list_methods(tree):
        for statement in function.body:
            if not _is_scaffold(statement):
                symbols = tuple(_list_symbols(statement, aliases))
                for size in range(1, _LONGEST + 1):
                    runs.update(zip(*(symbols[start:] for start in range(size)), strict=False))
    return Print(runs)


def load_kernelbench(folder: Path) -> dict[str, Print]:
    """Prints of all tasks below a folder in KernelBench's layout, by `level1/1_name.py`.

    Raises:
        UserError: there are none.
    """
    found: dict[str, Print] = {}
    for path in sorted(folder.rglob("*.py")):
        try:
            code = path.read_text(encoding="utf-8", errors="replace")
            tree = parse_program(code)
        except (OSError, ValueError):
            continue
        if any(isinstance(node, ast.ClassDef) and node.name == "Model" for node in tree.body):
            found["/".join(path.parts[-2:])] = compute_print(code)
    if not found:
        raise UserError(f"{folder} holds no KernelBench tasks; give the folder that has level1, level2, ...")
    return found


def find_nearest(code: str, known: dict[str, Print]) -> Nearest:
    """The known task that is most like a program.

    Raises:
        ValueError: the program does not parse.
    """
    own = compute_print(code)
    similarities = ((own.compare(other), name) for name, other in known.items())
    similarity, name = max(similarities, default=(0.0, ""))
    return Nearest(name=name, similarity=round(similarity, 4))


def _list_methods(tree: ast.Module) -> Iterator[ast.FunctionDef]:
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            yield from (part for part in node.body if isinstance(part, ast.FunctionDef))


def _is_scaffold(statement: ast.stmt) -> bool:
    """A docstring, `super().__init__()`, or `self.name = name`: what every program has."""
    match statement:
        case ast.Expr(value=ast.Constant()):
            return True
        case ast.Expr(value=ast.Call(func=ast.Attribute(attr="__init__"))):
            return True
        case ast.Assign(targets=[ast.Attribute(value=ast.Name(id="self"))], value=ast.Name()):
            return True
    return False


def _list_symbols(node: ast.AST, aliases: dict[str, str]) -> Iterator[str]:
    """The syntax below a node, in order."""
    if isinstance(node, ast.Name | ast.Attribute) and (resolved := resolve_name(node, aliases)):
        yield resolved
        return
    match node:
        case ast.Name() | ast.arg() | ast.Attribute(value=ast.Name(id="self")):
            yield "name"
            return
        case ast.Constant(value=value):
            yield "text" if isinstance(value, str) else "truth" if isinstance(value, bool) else "number"
            return
        case ast.Attribute(attr=attribute):
            yield f".{attribute}"
        case ast.keyword(arg=argument):
            yield f"{argument}="
        case ast.AnnAssign():
            yield "Assign"
        case ast.expr_context():
            return
        case _:
            yield type(node).__name__
    children: Sequence[ast.AST] = [*ast.iter_child_nodes(node)]
    if isinstance(node, ast.AnnAssign):
        children = [child for child in (node.target, node.value) if child is not None]
    for child in children:
        yield from _list_symbols(child, aliases)

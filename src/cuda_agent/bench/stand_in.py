"""Smaller forms of a task whose sizes are too big for this machine, from least changed to most.

A size is a whole number, or a tuple or list of them, that the program names at module level. The smaller form
is the same program with other sizes: the source is parsed and written, never run.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass

Size = int | tuple[int, ...] | list[int]
"""What a name stands for."""

_BATCH_CAPS = (4, 2)
_INPUT_CAPS = (64, 16)
_ALL_CAPS = (256, 64, 16)


@dataclass(frozen=True)
class StandIn:
    """A task with smaller sizes."""

    source: str
    """The program."""
    changes: dict[str, tuple[Size, Size]]
    """What each changed name stood for, and what it stands for now."""

    def describe(self) -> str:
        """The changes in words: `batch_size 4096 -> 4`."""
        return ", ".join(f"{name} {old} -> {new}" for name, (old, new) in self.changes.items())


def list_stand_ins(source: str) -> Iterator[StandIn]:
    """Smaller forms of a program, the one that is changed least first.

    First the batch alone shrinks, then everything that only the inputs depend on, so that the model stays
    what it is; in the end also what the constructor is given.
    """
    tree = ast.parse(source)
    sizes = dict(_iterate_sizes(tree))
    of_inputs = _find_names(tree, "get_inputs")
    of_model = _find_names(tree, "get_init_inputs")
    free = [name for name in sizes if name in of_inputs and name not in of_model]
    shared = [name for name in sizes if name in of_inputs | of_model]
    batch = [name for name in free if name.startswith("batch") or name == "B"]
    attempts = [
        *((batch, cap) for cap in _BATCH_CAPS),
        *((free, cap) for cap in _INPUT_CAPS),
        *((shared, cap) for cap in _ALL_CAPS),
    ]
    seen: list[dict[str, tuple[Size, Size]]] = []
    for names, cap in attempts:
        changes = {name: (sizes[name], _shrink(sizes[name], cap)) for name in names}
        changes = {name: pair for name, pair in changes.items() if pair[0] != pair[1]}
        if changes and changes not in seen:
            seen.append(changes)
            yield StandIn(_write(source, changes), changes)


def _iterate_sizes(tree: ast.Module) -> Iterator[tuple[str, Size]]:
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and len(node.targets) == 1:
            size = _compute(node.value)
            if size is not None:
                yield node.targets[0].id, size


def _compute(node: ast.expr) -> Size | None:
    """What an expression of whole numbers alone comes to; None for any other."""
    match node:
        case ast.Constant(value=int(value)) if not isinstance(value, bool):
            return value
        case ast.Tuple(elts=elements) | ast.List(elts=elements):
            parts = [part for part in map(_compute, elements) if isinstance(part, int)]
            if len(parts) < len(elements):
                return None
            return parts if isinstance(node, ast.List) else tuple(parts)
        case ast.BinOp(left=left, right=right, op=ast.Mult() | ast.Add() | ast.FloorDiv() as operator):
            return _combine(_compute(left), _compute(right), operator=operator)
    return None


def _combine(left: Size | None, right: Size | None, *, operator: ast.operator) -> int | None:
    if not (isinstance(left, int) and isinstance(right, int)):
        return None
    if isinstance(operator, ast.FloorDiv):
        return left // right if right else None
    return left * right if isinstance(operator, ast.Mult) else left + right


def _find_names(tree: ast.Module, function: str) -> set[str]:
    """Module-level names that a function depends on, through other module-level names too."""
    uses = {
        node.targets[0].id: _list_loaded(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
    }
    bodies = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == function]
    found: set[str] = set()
    waiting = {name for body in bodies for name in _list_loaded(body)}
    while waiting:
        name = waiting.pop()
        if name in uses and name not in found:
            found.add(name)
            waiting |= uses[name]
    return found


def _list_loaded(node: ast.AST) -> set[str]:
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}


def _shrink(size: Size, cap: int) -> Size:
    """A size of at most `cap`, or one more where it was odd, so that what is irregular stays so."""
    if isinstance(size, int):
        return cap + size % 2 if size > cap else size
    return type(size)(cap + part % 2 if part > cap else part for part in size)


def _write(source: str, changes: dict[str, tuple[Size, Size]]) -> str:
    tree = ast.parse(source)
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            name = node.targets[0].id
            if name in changes:
                node.value = ast.parse(repr(changes[name][1]), mode="eval").body
    return ast.unparse(tree)

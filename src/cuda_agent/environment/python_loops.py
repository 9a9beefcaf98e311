"""Which variables of a function can only stand for modules of the submission's own classes.

`for block in self.blocks: x = block(x)` is how everybody calls a list of modules. Such a call does what it
seems to do when every binding of `block` takes it from a container that holds nothing but own modules.
"""

import ast
from collections import Counter
from collections.abc import Callable, Iterator, Set

from cuda_agent.environment.python_names import Function, is_self_attribute

Loop = ast.For | ast.comprehension
Scope = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef

CARRIERS = frozenset({"enumerate", "reversed", "zip"})
"""Builtins that hand on what they are given."""


def find_own_items(function: Function, tree: ast.Module, *, holds_own: Callable[[str], bool]) -> set[str]:
    """Loop variables of a function and of what is nested in it that only ever hold own modules.

    `holds_own` tells whether `self.<attribute>` can only be a container of own modules.
    """
    bound = Counter(name for node in ast.walk(function) for name in _find_bound(node))
    # After a comprehension, its variable's name means the module's variable again.
    foreign = set(_find_foreign(tree))
    loops = [node for node in ast.walk(function) if isinstance(node, Loop)]
    finder = _OwnTargets(holds_own, CARRIERS - bound.keys() - foreign)
    own = Counter(name for loop in loops for name in finder.find(loop.target, loop.iter))
    return {name for name, count in own.items() if count == bound[name] and name not in foreign}


class _OwnTargets:
    """Reads a loop's header."""

    def __init__(self, holds_own: Callable[[str], bool], carriers: Set[str]) -> None:
        self._holds_own = holds_own
        self._carriers = carriers

    def find(self, target: ast.expr, iterable: ast.expr) -> Iterator[str]:
        """Names in a target that get own modules from an iterable."""
        if isinstance(target, ast.Name) and self._is_own(iterable):
            yield target.id
        elif isinstance(target, ast.Tuple) and isinstance(iterable, ast.Call) and not iterable.keywords:
            sources: list[ast.expr | None] = []
            if self._carries(iterable, "enumerate"):
                sources = [None, *iterable.args[:1]]
            elif self._carries(iterable, "zip"):
                sources = list(iterable.args)
            if len(sources) == len(target.elts) and not any(isinstance(s, ast.Starred) for s in sources):
                for part, source in zip(target.elts, sources, strict=True):
                    if source is not None:
                        yield from self.find(part, source)

    def _is_own(self, value: ast.expr) -> bool:
        if isinstance(value, ast.Subscript) and isinstance(value.slice, ast.Slice):
            return self._is_own(value.value)
        if isinstance(value, ast.Call) and self._carries(value, "reversed") and len(value.args) == 1:
            return self._is_own(value.args[0])
        return is_self_attribute(value) and self._holds_own(value.attr)

    def _carries(self, call: ast.Call, name: str) -> bool:
        return isinstance(call.func, ast.Name) and call.func.id == name and name in self._carriers


def _find_bound(node: ast.AST) -> Iterator[str]:
    """Names that a node binds, its children left out."""
    match node:
        case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
            yield name
        case ast.arg(arg=name):
            yield name
        case ast.alias():
            yield (node.asname or node.name).split(".")[0]
        case ast.MatchMapping(rest=str(name)):
            yield name
        case (
            ast.FunctionDef(name=str(name))
            | ast.AsyncFunctionDef(name=str(name))
            | ast.ClassDef(name=str(name))
            | ast.ExceptHandler(name=str(name))
            | ast.MatchAs(name=str(name))
            | ast.MatchStar(name=str(name))
        ):
            yield name


def _find_foreign(tree: ast.Module) -> Iterator[str]:
    """Names bound by the module itself, or by any function that reaches out of itself."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Global):
            yield from node.names
    waiting: list[ast.AST] = list(tree.body)
    while waiting:
        node = waiting.pop()
        yield from _find_bound(node)
        # What is written around a body (defaults, decorators) still belongs to the module.
        inside = set(node.body) if isinstance(node, Scope) else set()
        outside = (each for each in ast.iter_child_nodes(node) if each not in inside)
        waiting += [each for each in outside if not isinstance(each, ast.arg)]

"""Stand-ins of optional imports: what a name is when `try: from typing import Self` finds nothing."""

import ast
from collections.abc import Collection, Iterator

IMPORT_ERRORS = ("ImportError", "ModuleNotFoundError")


def find_substitutes(tree: ast.Module, classes: Collection[str]) -> set[ast.Name]:
    """The places in `except ImportError` that give a name, which the `try` imports, another meaning.

    Only meanings that compute nothing count: a constant, `object`, or one of the file's own `classes`.
    """
    return {
        target
        for node in ast.walk(tree)
        if isinstance(node, ast.Try)
        for handler in node.handlers
        if _is_for_imports(handler)
        for statement in handler.body
        for target in _find_harmless(statement, classes)
        if target.id in set(_find_imported(node.body))
    }


def _is_for_imports(handler: ast.ExceptHandler) -> bool:
    caught = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return all(isinstance(each, ast.Name) and each.id in IMPORT_ERRORS for each in caught)


def _find_harmless(statement: ast.stmt, classes: Collection[str]) -> Iterator[ast.Name]:
    if not isinstance(statement, ast.Assign):
        return
    value = statement.value
    is_type = isinstance(value, ast.Name) and (value.id == "object" or value.id in classes)
    if is_type or isinstance(value, ast.Constant):
        yield from (target for target in statement.targets if isinstance(target, ast.Name))


def _find_imported(statements: list[ast.stmt]) -> Iterator[str]:
    for statement in statements:
        if isinstance(statement, ast.Import | ast.ImportFrom):
            yield from (alias.asname or alias.name for alias in statement.names)

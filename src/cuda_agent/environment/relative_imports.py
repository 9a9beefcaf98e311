"""model_new.py as part of a package: `import kernels` becomes relative, and nothing else changes.

A package that registered a module called `kernels` for the whole process would meet the next such package.
"""

import ast

KERNELS = "kernels"


def make_kernels_relative(source: str) -> str:
    """The source with every import of `kernels` relative to the package that it lies in.

    `import kernels as k` becomes `from . import kernels as k`, `from kernels import f` becomes
    `from .kernels import f`; other names of the same statement keep their order.

    Raises:
        SyntaxError: the source does not parse.
    """
    lines = source.encode().splitlines(keepends=True)
    starts = [sum(map(len, lines[:number])) for number in range(len(lines))]
    text = source.encode()
    found = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Import | ast.ImportFrom)]
    for node in sorted(found, key=lambda node: (node.lineno, node.col_offset), reverse=True):
        written = _rewrite(node)
        if written is not None:
            assert node.end_lineno is not None
            assert node.end_col_offset is not None
            start = starts[node.lineno - 1] + node.col_offset
            end = starts[node.end_lineno - 1] + node.end_col_offset
            text = text[:start] + written.encode() + text[end:]
    return text.decode()


def _rewrite(node: ast.Import | ast.ImportFrom) -> str | None:
    """The statement made relative; None where it does not name the kernels."""
    if isinstance(node, ast.ImportFrom):
        if node.module != KERNELS or node.level:
            return None
        return ast.unparse(ast.ImportFrom(KERNELS, node.names, 1))
    if not any(alias.name == KERNELS for alias in node.names):
        return None
    # Simple statements on one line, since this may be the whole suite of an `if` or a `try`.
    return "; ".join(
        ast.unparse(ast.ImportFrom(None, [alias], 1) if alias.name == KERNELS else ast.Import([alias]))
        for alias in node.names
    )

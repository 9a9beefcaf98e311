"""Changing a Python file at some of its nodes, so that every line stays where it is."""

import ast
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Set

from cuda_agent.environment.cpp_tokens import Token
from cuda_agent.environment.python_names import is_self_attribute
from cuda_agent.environment.submission import MODEL_FILE

Span = tuple[tuple[int, int], tuple[int, int]]
"""Start and end, each a line counted from 1 and a byte of it counted from 0, as in the syntax tree."""
Edit = tuple[Span, str]
"""What stands where instead."""


class ForeignError(ValueError):
    """A file in a foreign form cannot be read."""

    def __init__(self, place: ast.AST | Token, reason: str, *, file: str = MODEL_FILE) -> None:
        """`place` is where in the file."""
        super().__init__(reason)
        self.line: int = place.line if isinstance(place, Token) else getattr(place, "lineno", 0)
        """Counted from 1; 0 where there is none."""
        self.file = file
        """Which file it is."""


def find_span(node: ast.stmt | ast.expr | ast.keyword) -> Span:
    """Where a node stands."""
    assert node.end_lineno is not None
    assert node.end_col_offset is not None
    return (node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset)


def replace_spans(text: str, edits: Iterable[Edit]) -> bytes:
    """The text with other words in place of the spans, none of which may overlap another."""
    content = text.encode()
    starts = [0, *(match.end() for match in re.finditer(rb"\n", content))]
    for span, new in sorted(edits, reverse=True):
        start, end = (starts[line - 1] + column for line, column in span)
        kept = b"\n" * content.count(b"\n", start, end)
        content = content[:start] + new.encode() + kept + content[end:]
    return content


def find_aliases(tree: ast.Module, modules: Set[str]) -> Iterator[Edit]:
    """Edits that make `self.ops = NAME` nothing and `self.ops` NAME, where it is set once."""
    aliases = [
        (node, node.targets[0].attr, node.value.id)
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign)
        and len(node.targets) == 1
        and is_self_attribute(node.targets[0])
        and isinstance(node.value, ast.Name)
        and node.value.id in modules
    ]
    attributes = [node for node in ast.walk(tree) if isinstance(node, ast.Attribute)]
    stored = Counter(node.attr for node in attributes if not isinstance(node.ctx, ast.Load))
    single = {attribute: name for _, attribute, name in aliases if stored[attribute] == 1}
    yield from ((find_span(node), "pass") for node, attribute, _ in aliases if attribute in single)
    for node in attributes:
        if isinstance(node.ctx, ast.Load) and is_self_attribute(node) and node.attr in single:
            yield find_span(node), single[node.attr]

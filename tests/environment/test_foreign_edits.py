"""Spans of a Python file are replaced, and every line stays where it was."""

import ast

from cuda_agent.environment.foreign_edits import find_aliases, find_span, replace_spans

TEXT = """\
class ModelNew:
    def __init__(self):
        self.ops = ops
        self.other = ops
        self.other = None

    def forward(self, x):
        return self.ops.f("é", self.ops.g(
            x), self.other)
"""


def test_an_attribute_that_is_set_once_is_the_module() -> None:
    lines = replace_spans(TEXT, find_aliases(ast.parse(TEXT), {"ops"})).decode().splitlines()
    assert lines[2].strip() == "pass"
    assert lines[3:5] == TEXT.splitlines()[3:5]
    assert lines[7:] == ['        return ops.f("é", ops.g(', "            x), self.other)"]


def test_lines_of_what_is_replaced_are_kept() -> None:
    (statement,) = ast.parse("f(\n1,\n2)\n").body
    assert replace_spans("f(\n1,\n2)\n", [(find_span(statement), "é")]) == "é\n\n\n".encode()

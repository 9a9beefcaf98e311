"""Macros that turn their one parameter into a pragma are told from all others."""

import pytest

from cuda_agent.environment.cpp_macros import cut_lines, find_pragma_macros, read_macro
from cuda_agent.environment.cpp_tokens import cut_tokens


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("#define P(x) _Pragma(#x)", {"P"}),
        ("# define P(x) a b _Pragma(#x) c", {"P"}),
        ("#define P(...) \\\n  _Pragma(#__VA_ARGS__)", {"P"}),
        ("#define P(rest...) _Pragma(#rest)", {"P"}),
        ("%:define P(x) _Pragma(#x)", {"P"}),
        ("#define P(x) _Pragma(x)", set()),
        ("#define P(x, y) _Pragma(#x)", set()),
        ('#define P(x) _Pragma("omp x")', set()),
        ("// #define P(x) _Pragma(#x)", set()),
        ("#define P", set()),
        ("#define P(x", set()),
        ("/* open", set()),
    ],
)
def test_pragma_macros(text: str, found: set[str]) -> None:
    assert find_pragma_macros([text]) == found


def test_a_macro_s_parts() -> None:
    (line, _) = cut_lines(cut_tokens("#define F(a, b) a + (b)"))
    macro = read_macro(line)
    assert macro is not None
    assert (macro.name, macro.parameters) == ("F", ("a", "b"))
    assert [token.text for token in macro.body] == ["a", "+", "(", "b", ")"]

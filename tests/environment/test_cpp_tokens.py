"""Comments, strings and joined lines end where the compiler says they end."""

import subprocess
from pathlib import Path

import pytest

from cuda_agent.environment.cpp_tokens import CppSyntaxError, TokenKind, cut_tokens
from cuda_agent.environment.toolchain import find_cxx


def texts(source: str, kind: TokenKind) -> list[str]:
    return [token.text for token in cut_tokens(source) if token.kind is kind]


def test_lines_are_those_of_the_source() -> None:
    tokens = cut_tokens('a\n/* x\n y */ b // c \\\n still comment\n"d\\\ne" R"(f\n\n)" g\n')
    found = {token.text: token.line for token in tokens if token.kind is not TokenKind.NEWLINE}
    assert found == {"a": 1, "b": 3, "de": 5, "f\n\n": 6, "g": 8}


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("a // b\nc", ["a", "c"]),
        ("a /* b */ c", ["a", "c"]),
        ('a "b /* " c', ["a", "c"]),
        (r'a "b \" // " c', ["a", "c"]),
        ("a 'b' c", ["a", "c"]),
        ("a '\"' c", ["a", "c"]),
        ("a 1'000'000 c", ["a", "c"]),
        ("a\\\nb", ["ab"]),
        ("a\\  \nb", ["ab"]),
        ('a R"x( " )" // )x" b', ["a", "b"]),
        ('a u8R"( " )" b', ["a", "b"]),
        ('a R"x()x\\\n" )x" b', ["a", "b"]),
        ("it's /* not a comment\nb", ["it", "b"]),
    ],
)
def test_names_outside_comments_and_strings(source: str, names: list[str]) -> None:
    assert texts(source, TokenKind.NAME) == names


@pytest.mark.parametrize("source", ["/* no end", 'R"x(no end)"', 'R"\\\nx(a)x"', "a\rb"])
def test_doubtful_ends_are_refused(source: str) -> None:
    with pytest.raises(CppSyntaxError):
        cut_tokens(source)


@pytest.mark.parametrize(
    "source",
    [
        "#include <a/b.h>",
        "# include <a/b.h>",
        "%:include <a/b.h>",
        "#inc\\\nlude <a/b.h>",
        "/* */ #include <a/b.h>",
    ],
)
def test_an_include_names_its_file(source: str) -> None:
    assert texts(source, TokenKind.INCLUDE) == ["<a/b.h>"]


TRAPS = [
    'const char* a = R"x( )x\\\n" " )x"; /* " */\nMARK\n',
    "int a; // join \\   \nMARK\nMARK\n",
    "int a = 1'0; char c = '\"'; /* ' */ MARK // MARK\n",
    'const char* s = "\\\\"; MARK // " MARK\n',
    "#if 0\nit's \"odd /*\n#endif\nMARK\n",
    "int b; /\\\n/ MARK\nMARK\n",
    "int b; /\\\n* MARK *\\\n/ MARK\n",
    'auto r = R"(\nMARK /* )"; MARK\n',
]


@pytest.mark.parametrize("source", TRAPS)
def test_the_compiler_sees_as_many_marks(source: str, tmp_path: Path) -> None:
    file = tmp_path / "trap.cpp"
    # A mark that the compiler sees becomes FOUND; one inside a comment is dropped, inside a string it stays.
    file.write_text("#define MARK FOUND\n" + source)
    command = [str(find_cxx()), "-std=c++17", "-E", "-P", "-w", str(file)]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert texts(source, TokenKind.NAME).count("MARK") == output.count("FOUND")

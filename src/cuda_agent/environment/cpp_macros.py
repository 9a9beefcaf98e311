"""Reads macro definitions, as far as the rules on pragmas need it.

`#define PRAGMA(x) _Pragma(#x)` hides what it asks of the compiler until it is used. Such a macro has one
parameter, so its uses say the whole pragma, and are held to the rules as if they were pragmas.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from cuda_agent.environment.cpp_tokens import CppSyntaxError, Token, TokenKind, cut_tokens

DIRECTIVE_STARTS = ("#", "%:")
VARIABLE_ARGUMENTS = "__VA_ARGS__"


@dataclass(frozen=True)
class Macro:
    """A macro with parameters."""

    name: str
    """What it is called."""
    parameters: tuple[str, ...]
    """Names that stand for something else in its body."""
    body: Sequence[Token]
    """What it is replaced by."""

    @property
    def asks_by_parameter(self) -> bool:
        """Whether it makes its one parameter a pragma."""
        return any(self.is_own_pragma(self.body[position:]) for position in range(len(self.body)))

    def is_own_pragma(self, tokens: Sequence[Token]) -> bool:
        """Whether tokens of the body begin with `_Pragma(#x)`, x being the only parameter."""
        texts = [token.text for token in tokens[:5]]
        return len(self.parameters) == 1 and texts == ["_Pragma", "(", "#", self.parameters[0], ")"]


def read_macro(line: Sequence[Token]) -> Macro | None:
    """The macro with parameters that a line defines, or None."""
    texts = [token.text for token in line]
    if len(texts) < 4 or texts[0] not in DIRECTIVE_STARTS or texts[1] != "define" or texts[3] != "(":
        return None
    if ")" not in texts:
        return None
    end = texts.index(")")
    parameters = [token.text for token in line[4:end] if token.kind is TokenKind.NAME]
    if not parameters and "." in texts[4:end]:
        parameters = [VARIABLE_ARGUMENTS]
    return Macro(texts[2], tuple(parameters), line[end + 1 :])


def cut_lines(tokens: Iterable[Token]) -> Iterator[list[Token]]:
    """The tokens of each line."""
    line: list[Token] = []
    for token in tokens:
        if token.kind is TokenKind.NEWLINE:
            yield line
            line = []
        else:
            line.append(token)
    yield line


def find_pragma_macros(texts: Iterable[str]) -> frozenset[str]:
    """Names of the macros in these sources that make their parameter a pragma."""
    found = set()
    for text in texts:
        try:
            lines = list(cut_lines(cut_tokens(text)))
        except CppSyntaxError:
            # Whoever checks that source finds the same, and says so.
            continue
        macros = [macro for macro in map(read_macro, lines) if macro is not None]
        found |= {macro.name for macro in macros if macro.asks_by_parameter}
    return frozenset(found)

"""Cuts C++ into tokens as a compiler does, as far as the rules need it.

Comments, ordinary and raw strings, character literals, digit separators, joined lines (a backslash at a
line's end) and digraphs are handled as the standard says, because whoever disagrees with the compiler on
where a comment or a string ends can be shown one program and compile another.
"""

import functools
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum


class TokenKind(StrEnum):
    """What a token is."""

    NAME = "name"
    """An identifier or keyword."""
    STRING = "string"
    """A string literal; the text is what is between the quotes."""
    PUNCTUATION = "punctuation"
    """One character of an operator or bracket."""
    NUMBER = "number"
    """A numeric literal."""
    CHARACTER = "character"
    """A character literal."""
    INCLUDE = "include"
    """The file that an include names, with its brackets or quotes."""
    NEWLINE = "newline"
    """The end of a line that is not inside a comment and not joined to the next."""


@dataclass(frozen=True)
class Token:
    """One token."""

    kind: TokenKind
    """What it is."""
    text: str
    """Its text, joined lines joined."""
    line: int
    """1-based line it starts on."""


class CppSyntaxError(ValueError):
    """A comment, string or raw string has no end, or is written so that its end is doubtful."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(message)
        self.line = line
        """1-based line where it starts."""


JOINED = re.compile(r"\\[ \t\f\v]*(?:\r\n|\n|\r)")
"""GCC joins lines even when spaces follow the backslash."""

# A quote without its partner takes the rest of its line, as in GCC (`it's` in a skipped block).
PATTERNS = (
    (None, re.compile(r"[ \t\f\v]+|//[^\n]*|/\*.*?\*/", re.DOTALL)),
    (TokenKind.NEWLINE, re.compile(r"\n")),
    (TokenKind.NAME, re.compile(r"[^\W\d]\w*")),
    (TokenKind.NUMBER, re.compile(r"\.?\d(?:[eEpP][+-]|'\w|[\w.])*")),
    (TokenKind.STRING, re.compile(r'"(?:\\.|[^"\\\n])*(?:"|(?=\\?\n))')),
    (TokenKind.CHARACTER, re.compile(r"'(?:\\.|[^'\\\n])*(?:'|(?=\\?\n))")),
    (TokenKind.PUNCTUATION, re.compile(r"%:|.")),
)
RAW_PREFIX = re.compile(r"(?:u8|[uUL])?R")
RAW_START = re.compile(r'"(?P<delimiter>[^ ()\\\t\v\f\n]{0,16})\(')
INCLUDE_NAME = re.compile(r'[ \t]*(<[^>\n]+>|"[^"\n]+")')
INCLUDING = ("include", "include_next", "import", "embed")


@functools.lru_cache(maxsize=64)
def cut_tokens(text: str) -> tuple[Token, ...]:
    """All tokens of a source.

    Raises:
        CppSyntaxError: something has no end.
    """
    return tuple(_Cutter(text).cut())


class _Cutter:
    """Walks over the source with its joined lines joined, and knows where each place was before."""

    def __init__(self, text: str) -> None:
        source = text.replace("\r\n", "\n") + "\n"
        if "\r" in source:
            line = source[: source.index("\r")].count("\n") + 1
            raise CppSyntaxError(line, "a lone carriage return: end lines with a newline")
        self._source = source
        self._source_starts, self._joined_starts, pieces = [0], [0], []
        for join in JOINED.finditer(source):
            pieces.append(source[self._source_starts[-1] : join.start()])
            self._joined_starts.append(self._joined_starts[-1] + len(pieces[-1]))
            self._source_starts.append(join.end())
        pieces.append(source[self._source_starts[-1] :])
        self._joined = "".join(pieces)
        self._line_ends = [match.start() for match in re.finditer("\n", source)]

    def cut(self) -> Iterator[Token]:
        """Every token, comments and blanks left out."""
        at, recent = 0, ["\n", "\n", "\n"]
        while at < len(self._joined):
            if recent[-1] in INCLUDING and recent[-2] in ("#", "%:") and recent[-3] == "\n":
                name = INCLUDE_NAME.match(self._joined, at)
                if name is not None:
                    yield Token(TokenKind.INCLUDE, name[1], self._line(at))
                    at, recent = name.end(), ["", "", ""]
                    continue
            kind, text = self._match(at)
            raw_at = at + len(text)
            if (
                kind is TokenKind.NAME
                and RAW_PREFIX.fullmatch(text)
                and self._joined[raw_at : raw_at + 1] == '"'
            ):
                content, after = self._cut_raw(raw_at)
                yield Token(TokenKind.STRING, content, self._line(at))
                at, recent = after, ["", "", ""]
                continue
            if kind is not None:
                yield Token(
                    kind, text[1:].removesuffix('"') if kind is TokenKind.STRING else text, self._line(at)
                )
                recent = [*recent[1:], text]
            at += len(text)

    def _match(self, at: int) -> tuple[TokenKind | None, str]:
        matches = ((kind, pattern.match(self._joined, at)) for kind, pattern in PATTERNS)
        # The last pattern takes any character that is left.
        kind, text = next((kind, match[0]) for kind, match in matches if match is not None)
        if kind is TokenKind.PUNCTUATION and self._joined.startswith("/*", at):
            raise CppSyntaxError(self._line(at), "a comment that does not end")
        return kind, text

    def _cut_raw(self, quote: int) -> tuple[str, int]:
        """The content of a raw string whose quote is at `quote`, and where the text goes on.

        In a raw string lines are not joined, so its end is looked for in the source as it stands.
        """
        start = self._to_source(quote)
        opening = RAW_START.match(self._source, start)
        if opening is None or self._source[start - 1] != "R":
            raise CppSyntaxError(self._line(quote), "a raw string whose start is not on one line")
        closing = f'){opening["delimiter"]}"'
        end = self._source.find(closing, opening.end())
        if end < 0:
            raise CppSyntaxError(self._line(quote), "a raw string that does not end")
        return self._source[opening.end() : end], self._to_joined(end + len(closing))

    def _to_source(self, at: int) -> int:
        piece = bisect_right(self._joined_starts, at) - 1
        return self._source_starts[piece] + at - self._joined_starts[piece]

    def _to_joined(self, at: int) -> int:
        piece = bisect_right(self._source_starts, at) - 1
        return self._joined_starts[piece] + at - self._source_starts[piece]

    def _line(self, at: int) -> int:
        return bisect_left(self._line_ends, self._to_source(at)) + 1

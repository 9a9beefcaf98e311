"""What kernel sources may include and ask of the compiler, checked on their tokens.

Which functions they may call is not decided here: the built library's undefined symbols say that
without doubt, whatever a macro makes of a name (`symbols`).
"""

import posixpath
from collections.abc import Iterator, Sequence

from cuda_agent.environment.allowlist import load_allowlists
from cuda_agent.environment.cpp_tokens import CppSyntaxError, Token, TokenKind, cut_tokens
from cuda_agent.environment.result import Violation
from cuda_agent.tasks.target import Target

DIRECTIVE_STARTS = ("#", "%:")
ASSEMBLY = ("asm", "__asm", "__asm__")
ATTRIBUTE_STARTS = ("__attribute__", "__attribute", "__declspec")
FILE_DIRECTIVES = (".incbin", ".include")
"""What makes an assembler read files."""

NO_ASSEMBLY = "host code takes no inline assembly: use intrinsics (immintrin.h); PTX belongs in .cu or .cuh"


def check_cpp(text: str, path: str, *, target: Target, own_files: frozenset[str]) -> tuple[Violation, ...]:
    """Every rule that one kernel source breaks, in the order of lines.

    `own_files` are the paths of all kernel files, which may include each other.
    """
    try:
        tokens = cut_tokens(text)
    except CppSyntaxError as error:
        return (Violation(file=path, line=error.line, rule="syntax", reason=str(error)),)
    check = _Check(path, target, own_files)
    found = [*check.directives(tokens), *check.assembly(tokens), *check.attributes(tokens)]
    return tuple(sorted(found, key=lambda violation: violation.line))


class _Check:
    """The rules for one file."""

    def __init__(self, path: str, target: Target, own_files: frozenset[str]) -> None:
        self._path = path
        self._target = target
        self._own_files = own_files
        self._lists = load_allowlists("cpp")

    def directives(self, tokens: Sequence[Token]) -> Iterator[Violation]:
        """Check each preprocessor directive and `_Pragma`."""
        is_line_start = True
        for position, token in enumerate(tokens):
            if is_line_start and token.text in DIRECTIVE_STARTS and token.kind is TokenKind.PUNCTUATION:
                yield from self._directive(_rest_of_line(tokens, position + 1))
            elif token.kind is TokenKind.NAME and token.text in ("_Pragma", "__pragma"):
                yield from self._pragma_operator(tokens[position + 1 : position + 4], token.line)
            is_line_start = token.kind is TokenKind.NEWLINE

    def _directive(self, line: Sequence[Token]) -> Iterator[Violation]:
        if not line:
            return
        name, rest = line[0], line[1:]
        reason = self._lists["directive"].refuse(name.text)
        if reason is not None:
            yield self._violation(name.line, "directive", reason=f"`#{name.text}`: {reason}")
        elif name.text == "include":
            yield from self._include(rest, name.line)
        elif name.text == "pragma":
            yield from self._pragma([token.text for token in rest[:2]], name.line)

    def _include(self, rest: Sequence[Token], line: int) -> Iterator[Violation]:
        if not rest or rest[0].kind is not TokenKind.INCLUDE:
            yield self._violation(
                line, "include", reason="name the file right after #include, not through a macro"
            )
            return
        is_quoted, name = rest[0].text[0] == '"', rest[0].text[1:-1]
        if is_quoted:
            own = posixpath.normpath(posixpath.join(posixpath.dirname(self._path), name))
            if own in self._own_files:
                return
        reason = "paths that climb are not allowed" if ".." in name else self._refuse_include(name)
        if reason is not None:
            yield self._violation(line, "include", reason=f"`{name}`: {reason}")

    def _refuse_include(self, name: str) -> str | None:
        reason = self._lists["include"].refuse(name)
        if reason is None or self._lists["include"].refused.find(name) or self._target is Target.CPU:
            return reason
        cuda = self._lists["include_cuda"]
        return cuda.refused.find(name) or (None if cuda.allowed.find(name) else reason)

    def _pragma(self, words: Sequence[str], line: int) -> Iterator[Violation]:
        # `GCC optimize` is named by two words, `omp parallel` by one.
        allowed = self._lists["pragma"]
        if words and allowed.refuse(words[0]) is not None and allowed.refuse(" ".join(words)) is not None:
            yield self._violation(line, "pragma", reason=f"`#pragma {' '.join(words)}`: {allowed.default}")

    def _pragma_operator(self, following: Sequence[Token], line: int) -> Iterator[Violation]:
        if len(following) < 2 or following[1].kind is not TokenKind.STRING:
            yield self._violation(line, "pragma", reason="_Pragma takes a string written out here")
            return
        yield from self._pragma(following[1].text.split()[:2], line)

    def assembly(self, tokens: Sequence[Token]) -> Iterator[Violation]:
        """Inline assembly only where it is PTX, and none that reads files."""
        is_device_code = self._target is Target.CUDA and not self._path.endswith(".cpp")
        for token in tokens:
            if token.kind is TokenKind.NAME and token.text in ASSEMBLY and not is_device_code:
                yield self._violation(token.line, "assembly", reason=f"`{token.text}`: {NO_ASSEMBLY}")
            elif token.kind is TokenKind.STRING and any(word in token.text for word in FILE_DIRECTIVES):
                yield self._violation(
                    token.line, "assembly", reason="assembly that reads files: put data into tensors"
                )

    def attributes(self, tokens: Sequence[Token]) -> Iterator[Violation]:
        """No attribute that runs code at load time or under another name."""
        for position, token in enumerate(tokens):
            is_start = token.kind is TokenKind.NAME and token.text in ATTRIBUTE_STARTS
            is_bracket = token.text == "[" and [each.text for each in tokens[position : position + 2]] == [
                "[",
                "[",
            ]
            if not (is_start or is_bracket):
                continue
            for each in _bracketed(tokens, position if is_bracket else position + 1):
                reason = self._lists["attribute"].refuse(each.text) if each.kind is TokenKind.NAME else None
                if reason is not None:
                    yield self._violation(each.line, "attribute", reason=f"`{each.text}`: {reason}")

    def _violation(self, line: int, rule: str, *, reason: str) -> Violation:
        return Violation(file=self._path, line=line, rule=rule, reason=reason)


def _rest_of_line(tokens: Sequence[Token], start: int) -> Sequence[Token]:
    end = start
    while end < len(tokens) and tokens[end].kind is not TokenKind.NEWLINE:
        end += 1
    return tokens[start:end]


def _bracketed(tokens: Sequence[Token], start: int) -> Iterator[Token]:
    """The tokens from an opening bracket to the closing one that belongs to it."""
    depth = 0
    for token in tokens[start:]:
        if token.kind is TokenKind.PUNCTUATION:
            depth += (token.text in "([") - (token.text in ")]")
            if depth <= 0:
                return
        yield token

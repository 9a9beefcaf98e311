"""What kernel sources may include and ask of the compiler, checked on their tokens.

Which functions they may call is not decided here: the built library's undefined symbols say that
without doubt, whatever a macro makes of a name (`symbols`).
"""

import posixpath
from collections.abc import Iterator, Sequence

from cuda_agent.environment.allowlist import load_allowlists
from cuda_agent.environment.cpp_macros import (
    DIRECTIVE_STARTS,
    Macro,
    cut_lines,
    find_pragma_macros,
    read_macro,
)
from cuda_agent.environment.cpp_tokens import CppSyntaxError, Token, TokenKind, cut_tokens
from cuda_agent.environment.result import Violation
from cuda_agent.tasks.target import Target

NAMING = ("define", "undef", "ifdef", "ifndef", "defined")
"""Directives that name a macro without using it."""
ASSEMBLY = ("asm", "__asm", "__asm__")
ATTRIBUTE_STARTS = ("__attribute__", "__attribute", "__declspec")
FILE_DIRECTIVES = (".incbin", ".include")
"""What makes an assembler read files."""

WRITTEN_OUT = "_Pragma takes a string written out here, or #x in a macro whose only parameter is x"
NO_ASSEMBLY = "host code takes no inline assembly: use intrinsics (immintrin.h); PTX belongs in .cu or .cuh"


def check_cpp(
    text: str,
    path: str,
    *,
    target: Target,
    own_files: frozenset[str],
    pragma_macros: frozenset[str] = frozenset(),
    needs_torch: bool = False,
) -> tuple[Violation, ...]:
    """Every rule that one kernel source breaks, in the order of lines.

    `own_files` are the paths of all kernel files, which may include each other, and `pragma_macros` the
    macros of all of them whose uses are pragmas; this source's own are found anyway.
    With `needs_torch` it may include torch's headers for tensors.
    """
    try:
        tokens = cut_tokens(text)
    except CppSyntaxError as error:
        return (Violation(file=path, line=error.line, rule="syntax", reason=str(error)),)
    macros = pragma_macros | find_pragma_macros([text])
    check = _Check(path, target, own_files=own_files, pragma_macros=macros, needs_torch=needs_torch)
    found = [*check.directives(tokens), *check.assembly(tokens), *check.attributes(tokens)]
    return tuple(sorted(found, key=lambda violation: violation.line))


class _Check:
    """The rules for one file."""

    def __init__(
        self,
        path: str,
        target: Target,
        *,
        own_files: frozenset[str],
        pragma_macros: frozenset[str],
        needs_torch: bool,
    ) -> None:
        self._path = path
        self._target = target
        self._own_files = own_files
        self._pragma_macros = pragma_macros
        self._needs_torch = needs_torch
        self._lists = load_allowlists("cpp")

    def directives(self, tokens: Sequence[Token]) -> Iterator[Violation]:
        """Check each preprocessor directive, `_Pragma`, and macro that makes a pragma."""
        for line in cut_lines(tokens):
            if _is_directive(line):
                yield from self._directive(line[1:])
            macro = read_macro(line)
            for position, token in enumerate(line):
                if token.kind is not TokenKind.NAME:
                    continue
                if token.text in ("_Pragma", "__pragma"):
                    yield from self._pragma_operator(line[position:], macro)
                elif token.text in self._pragma_macros and not _is_only_named(line, position):
                    yield from self._pragma_macro(line[position:], macro)

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
        if self._needs_torch and self._lists["include_torch"].allowed.find(name) is not None:
            return None
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

    def _pragma_operator(self, tokens: Sequence[Token], macro: Macro | None) -> Iterator[Violation]:
        if macro is not None and macro.is_own_pragma(tokens):
            return
        if len(tokens) < 3 or tokens[2].kind is not TokenKind.STRING:
            yield self._violation(tokens[0].line, "pragma", reason=WRITTEN_OUT)
            return
        yield from self._pragma(tokens[2].text.split()[:2], tokens[0].line)

    def _pragma_macro(self, tokens: Sequence[Token], macro: Macro | None) -> Iterator[Violation]:
        """Check a use of a macro that makes its argument a pragma; `macro` is the one it is used in."""
        argument = tokens[2:4]
        words = [token.text for token in argument if token.kind is TokenKind.NAME]
        is_open = len(tokens) > 2 and tokens[1].text == "(" and tokens[2].kind is TokenKind.NAME
        is_pasted = any(token.text in DIRECTIVE_STARTS for token in tokens[3:5])
        # What decides must stand here, and not be put in place of a parameter.
        deciding = words[:1] if words and self._lists["pragma"].refuse(words[0]) is None else words
        is_open_ended = macro is not None and not set(deciding).isdisjoint(macro.parameters)
        if not is_open or is_pasted or is_open_ended:
            reason = f"`{tokens[0].text}` makes a pragma: write its first words out here"
            yield self._violation(tokens[0].line, "pragma", reason=reason)
            return
        yield from self._pragma(words, tokens[0].line)

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


def _is_directive(line: Sequence[Token]) -> bool:
    return bool(line) and line[0].kind is TokenKind.PUNCTUATION and line[0].text in DIRECTIVE_STARTS


def _is_only_named(line: Sequence[Token], position: int) -> bool:
    """Whether a directive defines or asks for the macro at `position`, which is not a use."""
    before = [token.text for token in line[:position] if token.text != "("]
    return _is_directive(line) and before[-1] in NAMING


def _bracketed(tokens: Sequence[Token], start: int) -> Iterator[Token]:
    """The tokens from an opening bracket to the closing one that belongs to it."""
    depth = 0
    for token in tokens[start:]:
        if token.kind is TokenKind.PUNCTUATION:
            depth += (token.text in "([") - (token.text in ")]")
            if depth <= 0:
                return
        yield token

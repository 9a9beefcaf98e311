"""The released work folder, whose kernels are bound by pybind, read as a submission of our own form.

A source in `kernels/` binds with `m.def("name", &function, py::arg("x"), ...)` in a function that
`REGISTER_BINDING` names. Those calls are read from the source's tokens and become exports at its end; the
headers that they need are stand-ins in which they do nothing. `import cuda_extension` becomes an import of
the kernels, and what a call leaves to a default is written into it. No line moves.
"""

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from cuda_agent.environment.cpp_tokens import CppSyntaxError, Token, TokenKind, cut_tokens
from cuda_agent.environment.foreign_edits import Edit, ForeignError, find_aliases, find_span, replace_spans
from cuda_agent.environment.submission import MODEL_FILE, Submission

EXTENSION = "cuda_extension"
REGISTRY_ABOVE = re.compile(rb'^([ \t]*#[ \t]*include[ \t]*)"\.\./binding_registry\.h"', re.MULTILINE)
LITERALS = {"true": "True", "false": "False"}

ONLY_FORM = 'write m.def("name", &function, py::arg("x"), ...), with a function of this file that has a name'
ONLY_PLAIN = "hand arguments over in the order of the C++ function, those by keyword last"
ONLY_NUMBERS = "its default is no number: hand it over"


@dataclass(frozen=True)
class Binding:
    """One `m.def(...)`."""

    name: str
    """What Python calls it."""
    function: str
    """The C++ function."""
    parameters: tuple[str, ...]
    """Names given by `py::arg`, in order; none where they have none."""
    defaults: Mapping[str, str]
    """Default values as Python's text, by parameter."""


def imports_extension(node: ast.stmt) -> bool:
    """Whether a statement is `import cuda_extension`, under another name or not."""
    return isinstance(node, ast.Import) and [each.name for each in node.names] == [EXTENSION]


def unfold_folder(submission: Submission, text: str, *, tree: ast.Module) -> Submission:
    """The submission in our own form; `text` and `tree` are those of its model.

    Raises:
        ForeignError: a binding or a call is in a form that cannot be read.
    """
    bindings: dict[str, Binding] = {}
    files = {}
    for path, content in submission.files.items():
        if path == MODEL_FILE:
            continue
        found = list(_find_bindings(content, path))
        bindings |= {binding.name: binding for binding in found}
        exports = [f"EXPORT_TORCH_FUNCTION_AS({each.name}, {each.function});" for each in found]
        tail = "\n".join(["", "#include <cuda_agent/torch_binding.h>", *exports, ""]) if found else ""
        files[path] = REGISTRY_ABOVE.sub(rb'\1"binding_registry.h"', content) + tail.encode()
    files[MODEL_FILE] = _rewrite(text, tree, bindings=bindings)
    return Submission(files, submission.problems, submission.ignored, needs_torch=True)


def _find_bindings(content: bytes, path: str) -> Iterator[Binding]:
    try:
        tokens = [token for token in cut_tokens(content.decode()) if token.kind is not TokenKind.NEWLINE]
    except (CppSyntaxError, UnicodeDecodeError):
        return  # the rules stage says so
    for position, token in enumerate(tokens):
        before = tokens[position - 1].text if position else ""
        if (token.kind, token.text, before) == (TokenKind.NAME, "def", "."):
            arguments = _split_arguments(tokens[position + 1 :])
            binding = _read_binding(arguments)
            if binding is None:
                raise ForeignError(token, ONLY_FORM, file=path)
            yield binding


def _split_arguments(tokens: Sequence[Token]) -> list[list[Token]]:
    """The arguments of a call whose opening bracket comes first."""
    arguments: list[list[Token]] = [[]]
    depth = 0
    for token in tokens:
        is_mark = token.kind is TokenKind.PUNCTUATION
        depth -= is_mark and token.text in ")]}"
        if depth == 0 and arguments[0]:
            break
        if depth == 1 and is_mark and token.text == ",":
            arguments.append([])
        elif depth > 0:
            arguments[-1].append(token)
        depth += is_mark and token.text in "([{"
    return arguments


def _read_binding(arguments: list[list[Token]]) -> Binding | None:
    if len(arguments) < 2 or len(arguments[0]) != 1 or arguments[0][0].kind is not TokenKind.STRING:
        return None
    name, function = arguments[0][0].text, [token.text for token in arguments[1]]
    function = function[1:] if function[:1] == ["&"] else function
    if not (name.isascii() and name.isidentifier() and len(function) == 1 and function[0].isidentifier()):
        return None
    given = [argument for argument in arguments[2:] if "arg" in [token.text for token in argument[:4]]]
    names = [next((t.text for t in argument if t.kind is TokenKind.STRING), "") for argument in given]
    texts = ["".join(token.text for token in argument) for argument in given]
    defaults = {name: text.partition("=")[2] for name, text in zip(names, texts, strict=True) if "=" in text}
    return Binding(name, function[0], tuple(names), defaults)


def _rewrite(text: str, tree: ast.Module, *, bindings: Mapping[str, Binding]) -> bytes:
    imports = [node for node in tree.body if isinstance(node, ast.Import) and imports_extension(node)]
    names = [node.names[0].asname or EXTENSION for node in imports]
    edits = [
        (find_span(node), f"import kernels as {name}") for node, name in zip(imports, names, strict=True)
    ]
    edits += find_aliases(tree, set(names))
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in bindings:
            edits += _complete(node, bindings[node.func.attr], text=text)
    return replace_spans(text, edits)


def _complete(call: ast.Call, binding: Binding, *, text: str) -> Iterator[Edit]:
    """Make a call's keywords positions, and write out the defaults that it leaves out."""
    if any(isinstance(each, ast.Starred) for each in call.args):
        return
    given = [keyword.arg for keyword in call.keywords]
    left = binding.parameters[len(call.args) :]
    if given != list(left[: len(given)]):
        raise ForeignError(call, ONLY_PLAIN)
    for keyword in call.keywords:
        yield (find_span(keyword)[0], find_span(keyword.value)[0]), ""
    values = []
    for name in left[len(given) :]:
        value = _read_number(binding.defaults.get(name, ""))
        if value is None:
            raise ForeignError(call, f"`{name}` of {binding.name}: {ONLY_NUMBERS}")
        values.append(value)
    if values:
        (line, column) = find_span(call)[1]
        before = re.sub(r"#.*", "", ast.get_source_segment(text, call) or "")[:-1].rstrip()
        comma = "" if before.endswith((",", "(")) else ", "
        yield ((line, column - 1), (line, column - 1)), comma + ", ".join(values)


def _read_number(text: str) -> str | None:
    """A C++ literal as Python writes it; None if it is none."""
    text = LITERALS.get(text, text.rstrip("fFlLuU") if not text.startswith("0x") else text)
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return None
    return text if isinstance(value, bool | int | float) else None

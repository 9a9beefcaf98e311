"""KernelBench's single file, taken apart into the files that a submission here has.

The file compiles C++ or CUDA from strings with `load_inline` while it is imported. Here nothing of it
runs: the strings are read from the syntax tree and become sources in `kernels/`, each at the lines where
it stood, so that a compiler's message names a line of the file handed in; the assignment becomes an import
of the built kernels (a work folder with pybind: see `foreign_folder`). What comes out goes through the
same rules, build and judge as any submission.
"""

import ast
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from cuda_agent.environment.foreign_edits import Edit, ForeignError, find_aliases, find_span, replace_spans
from cuda_agent.environment.foreign_folder import imports_extension, unfold_folder
from cuda_agent.environment.result import Violation
from cuda_agent.environment.submission import KERNEL_NAME, KERNELS_FOLDER, MODEL_FILE, Submission

MODULE, FUNCTION = "torch.utils.cpp_extension", "load_inline"
SUFFIXES = {"cpp_sources": ".cpp", "cuda_sources": ".cu"}
IGNORED = ("name", "verbose", "with_cuda", "extra_cflags", "extra_cuda_cflags", "extra_ldflags")
"""Arguments without meaning here: the flags are the same for every submission."""

CPP_PROLOGUE = "#include <torch/extension.h>"
CUDA_PROLOGUE = "#include <torch/extension.h>\n#include <cuda.h>\n#include <cuda_runtime.h>"
BINDING = "#include <cuda_agent/torch_binding.h>"
ONLY_FORM = f"write NAME = {FUNCTION}(name=..., cpp_sources=..., functions=[...]) at the top level"
ONLY_TEXT = (
    "the sources are read without running the file: give a string written out here, or a name that is "
    "assigned such a string once at the top level, with + between them"
)
ONLY_NAMES = 'list the functions to bind by name, as in functions=["relu"]'


@dataclass(frozen=True)
class Text:
    """A piece of source."""

    line: int
    """The line of the file that it starts on, counted from 1."""
    text: str
    """The string's value."""


@dataclass(frozen=True)
class Inline:
    """One `NAME = load_inline(...)`."""

    node: ast.Assign
    """The assignment."""
    name: str
    """What the built module is called in the file."""
    arguments: Mapping[str, ast.expr]
    """The call's arguments by keyword."""


def unfold_foreign(submission: Submission) -> Submission:
    """The submission in our own form; one that has that form already comes back as it is.

    What cannot be read is kept as a problem, with its line, which the rules stage reports.
    """
    try:
        text = submission.files.get(MODEL_FILE, b"").decode("utf-8-sig")
        text = text.replace("\r\n", "\n").replace("\r", "\n")
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return submission
    imported = next(filter(_imports_load_inline, tree.body), None)
    extension = next(filter(imports_extension, tree.body), None)
    if imported is None and extension is None:
        return submission
    try:
        if imported is None:
            return unfold_folder(submission, text, tree=tree)
        if len(submission.files) > 1:
            raise ForeignError(imported, f"write {FUNCTION} or files in {KERNELS_FOLDER}/, not both")
        inlines = _find_inlines(tree)
        kernels = {path: source for inline in inlines for path, source in _compose(inline, tree)}
        model = _rewrite(text, tree, imported=imported, inlines=inlines)
        files = {MODEL_FILE: model, **kernels}
        return Submission(files, submission.problems, submission.ignored, needs_torch=True)
    except (ForeignError, RecursionError) as error:
        line = error.line if isinstance(error, ForeignError) else 0
        file = error.file if isinstance(error, ForeignError) else MODEL_FILE
        rule = "load-inline" if imported is not None else "cuda-extension"
        problem = Violation(file=file, line=line, rule=rule, reason=str(error))
        return replace(submission, problems=(*submission.problems, problem))


def _imports_load_inline(node: ast.stmt) -> bool:
    if not (isinstance(node, ast.ImportFrom) and node.module == MODULE and not node.level):
        return False
    return [(each.name, each.asname) for each in node.names] == [(FUNCTION, None)]


def _find_inlines(tree: ast.Module) -> list[Inline]:
    found = [inline for node in tree.body if (inline := _read_inline(node)) is not None]
    calls = {id(inline.node.value) for inline in found}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _is_load_inline(node.func) and id(node) not in calls:
            raise ForeignError(node, ONLY_FORM)
    if not found:
        raise ForeignError(next(filter(_imports_load_inline, tree.body)), ONLY_FORM)
    return found


def _read_inline(node: ast.stmt) -> Inline | None:
    if not (isinstance(node, ast.Assign) and isinstance(node.value, ast.Call)):
        return None
    call, target = node.value, node.targets[0]
    if not _is_load_inline(call.func):
        return None
    if len(node.targets) > 1 or not isinstance(target, ast.Name) or not KERNEL_NAME.fullmatch(target.id):
        raise ForeignError(node, ONLY_FORM)
    if call.args:
        raise ForeignError(call, f"name every argument: {ONLY_FORM}")
    for keyword in call.keywords:
        if keyword.arg not in (*SUFFIXES, "functions", *IGNORED):
            raise ForeignError(keyword, f"`{keyword.arg or '**'}` is not supported: {ONLY_FORM}")
    return Inline(node, target.id, {str(keyword.arg): keyword.value for keyword in call.keywords})


def _is_load_inline(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == FUNCTION


def _compose(inline: Inline, tree: ast.Module) -> Iterator[tuple[str, bytes]]:
    """The kernel files of one load_inline, each text at its own lines."""
    constants = _find_constants(tree)
    names = inline.arguments.get("functions")
    if names is None:
        raise ForeignError(inline.node, ONLY_NAMES)
    exports = [f"EXPORT_TORCH_FUNCTION({name});" for name in _read_names(names)]
    for keyword, suffix in SUFFIXES.items():
        is_cpp = suffix == ".cpp"
        given = inline.arguments.get(keyword)
        if given is None and not is_cpp:
            continue
        nodes = given.elts if isinstance(given, ast.List | ast.Tuple) else [given] if given else []
        lines = (CPP_PROLOGUE if is_cpp else CUDA_PROLOGUE).split("\n")
        for text in (_read_text(node, constants) for node in nodes):
            lines += [""] * (text.line - 1 - len(lines))
            lines += text.text.split("\n")
        lines += [BINDING, *exports] if is_cpp else []
        yield f"{KERNELS_FOLDER}/{inline.name}{suffix}", "\n".join([*lines, ""]).encode()


def _read_names(node: ast.expr) -> list[str]:
    nodes = node.elts if isinstance(node, ast.List | ast.Tuple) else [node]
    names = [each.value for each in nodes if isinstance(each, ast.Constant) and isinstance(each.value, str)]
    if len(names) != len(nodes) or not all(name.isascii() and name.isidentifier() for name in names):
        raise ForeignError(node, ONLY_NAMES)
    return names


def _find_constants(tree: ast.Module) -> dict[str, ast.expr]:
    """Values of the names that are bound once in the whole file, by an assignment at the top level."""
    stored = Counter(
        node.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)
    )
    return {
        node.targets[0].id: node.value
        for node in tree.body
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and stored[node.targets[0].id] == 1
    }


def _read_text(node: ast.expr, constants: Mapping[str, ast.expr]) -> Text:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return Text(node.lineno, node.value)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = _read_text(node.left, constants), _read_text(node.right, constants)
        return Text(left.line, left.text + right.text)
    if isinstance(node, ast.Name) and node.id in constants:
        # A name cannot stand for itself, so each step leaves one name fewer.
        rest = {name: value for name, value in constants.items() if name != node.id}
        return _read_text(constants[node.id], rest)
    raise ForeignError(node, f"`{ast.unparse(node)[:80]}`: {ONLY_TEXT}")


def _rewrite(text: str, tree: ast.Module, *, imported: ast.stmt, inlines: Sequence[Inline]) -> bytes:
    """The file with each load_inline made an import of the kernels; every line stays where it is."""
    edits: list[Edit] = [(find_span(imported), "pass")]
    edits += [(find_span(inline.node), f"import kernels as {inline.name}") for inline in inlines]
    edits += find_aliases(tree, {inline.name for inline in inlines})
    return replace_spans(text, edits)

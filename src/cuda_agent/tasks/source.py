"""From source text to a Task. The source is parsed, never run."""

import ast
import re
import warnings
from collections.abc import Iterator

from cuda_agent.errors import TaskError
from cuda_agent.tasks.task import Task

MAX_SOURCE_BYTES = 1 << 20
"""Longer sources are refused: a reference program is a page, not a data set."""

_CODING_COOKIE = re.compile(r"^([ \t\f]*#.*?coding[:=][ \t]*)[-\w.]+")
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,99}")

Definitions = dict[str, ast.stmt | ast.expr]
"""What each module-level name is bound to."""


def parse_task(source: str, *, name: str, origin: str | None = None) -> Task:
    """The task that `source` is, after checking that it keeps the KernelBench convention.

    Checked on the syntax tree: it parses; `Model` is a class with bases and a `forward`, its own or
    inherited; `get_inputs` and `get_init_inputs` can be called without arguments. `origin` is what
    errors call the source, for example its path; `task <name>` when absent.

    Raises:
        TaskError: it does not; the message names origin, line, cause and mend.
    """
    origin = origin or f"task {name}"
    if not _NAME.fullmatch(name):
        raise TaskError(f"{origin}: {name!r} cannot name a task; use letters, digits, '.', '_' and '-'")
    source = _declare_utf8(source)
    tree = _parse(source, origin)
    definitions = dict(_iterate_definitions(tree.body))
    imported = _find_imports(tree)
    _check_model(definitions, imported, origin=origin)
    for function in ("get_inputs", "get_init_inputs"):
        _check_function(function, definitions, origin=origin, imported=imported)
    return Task(name=name, source=source)


def _declare_utf8(source: str) -> str:
    """The source with any encoding declaration in its first two lines turned into utf-8.

    A decoded text is written out as UTF-8, where another declaration would garble it.
    """
    lines = source.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    lines[:2] = [_CODING_COOKIE.sub(r"\g<1>utf-8", line) for line in lines[:2]]
    return "\n".join(lines)


def _parse(source: str, origin: str) -> ast.Module:
    try:
        size_bytes = len(source.encode())
    except UnicodeEncodeError as error:
        raise TaskError(f"{origin}: the text holds half a character (a lone surrogate); remove it") from error
    if size_bytes > MAX_SOURCE_BYTES:
        raise TaskError(f"{origin}: {size_bytes} bytes of source; at most {MAX_SOURCE_BYTES} are read")
    if not source.strip():
        raise TaskError(f"{origin}: the source is empty; define Model, get_inputs and get_init_inputs")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(source)
    except SyntaxError as error:
        shown = f" in `{error.text.strip()}`" if error.text and error.text.strip() else ""
        raise TaskError(f"{origin}, line {error.lineno or 1}: {error.msg}{shown}; mend the syntax") from error
    except (ValueError, RecursionError, MemoryError) as error:
        raise TaskError(f"{origin}: Python cannot parse this source ({error}); is it text?") from error


def _iterate_definitions(body: list[ast.stmt]) -> Iterator[tuple[str, ast.stmt | ast.expr]]:
    """Name and definition of everything bound at module level, inside `if`, `try` and `with` too."""
    for node in body:
        match node:
            case ast.ClassDef() | ast.FunctionDef():
                yield node.name, node
            case ast.Assign(targets=targets, value=value):
                yield from ((target.id, value) for target in targets if isinstance(target, ast.Name))
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                yield name, value
            case ast.If() | ast.Try() | ast.With():
                for part in ("body", "orelse", "finalbody"):
                    yield from _iterate_definitions(getattr(node, part, []))
                for handler in getattr(node, "handlers", []):
                    yield from _iterate_definitions(handler.body)


def _find_imports(tree: ast.Module) -> dict[str, int]:
    """Names bound by module-level imports, with their line."""
    return {
        alias.asname or alias.name.partition(".")[0]: node.lineno
        for node in tree.body
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }


def _resolve(name: str, definitions: Definitions) -> ast.stmt | ast.expr | None:
    """The definition behind a name, through aliases such as `Model = FastNet`."""
    seen: set[str] = set()
    found = definitions.get(name)
    while isinstance(found, ast.Name) and found.id not in seen:
        seen.add(found.id)
        found = definitions.get(found.id)
    return found


def _check_model(definitions: Definitions, imported: dict[str, int], *, origin: str) -> None:
    found = _resolve("Model", definitions)
    if found is None or isinstance(found, ast.Name):
        raise _build_missing("Model", origin=origin, line=imported.get("Model"))
    if not isinstance(found, ast.ClassDef):
        raise TaskError(
            f"{origin}, line {found.lineno}: Model is not a class; write `class Model(torch.nn.Module):`"
        )
    if not found.bases:
        raise TaskError(
            f"{origin}, line {found.lineno}: Model has no base class; write `class Model(torch.nn.Module):`"
        )
    if not _has_forward(found, definitions, seen=frozenset()):
        raise TaskError(
            f"{origin}, line {found.lineno}: Model has no forward; add `def forward(self, ...)` to the class"
        )


def _has_forward(model: ast.ClassDef, definitions: Definitions, *, seen: frozenset[str]) -> bool:
    """Whether a class has a forward of its own, of a base in this source, or of a foreign base."""
    if any(name == "forward" for name, _ in _iterate_definitions(model.body)):
        return True
    for node in model.bases:
        name = ast.unparse(node)
        base = _resolve(name, definitions)
        if isinstance(base, ast.ClassDef) and name not in seen:
            if _has_forward(base, definitions, seen=seen | {name}):
                return True
        elif base is None and name.rpartition(".")[2] not in ("Module", "ABC", "object"):
            return True
    return False


def _check_function(
    name: str,
    definitions: Definitions,
    *,
    origin: str,
    imported: dict[str, int],
) -> None:
    found = _resolve(name, definitions)
    if isinstance(found, ast.Call):
        return
    if not isinstance(found, ast.FunctionDef | ast.Lambda):
        raise _build_missing(name, origin=origin, line=imported.get(name))
    arguments = found.args
    required = len(arguments.posonlyargs) + len(arguments.args) - len(arguments.defaults)
    if required or None in arguments.kw_defaults:
        raise TaskError(
            f"{origin}, line {found.lineno}: {name} needs arguments; it is called with none, "
            "so give each one a default"
        )


def _build_missing(name: str, *, origin: str, line: int | None) -> TaskError:
    mend = {
        "Model": "add `class Model(torch.nn.Module):` at the top level",
        "get_inputs": "add `def get_inputs():` returning the list of forward's arguments",
        "get_init_inputs": "add `def get_init_inputs():` returning the list (or dict) of Model's arguments",
    }[name]
    if line is not None:
        return TaskError(f"{origin}, line {line}: {name} is imported, but a task is one file; {mend}")
    return TaskError(f"{origin}: {name} is not defined; {mend}")

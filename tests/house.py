"""The house rules that a syntax tree can hold; `tests/test_house.py` applies them.

A rule takes one source file and yields what breaks it. What ruff, mypy and import-linter already hold
(annotations, presence of docstrings, floors) is not repeated here.
"""

import ast
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

FUNCTION_LINES = 40
LOOP_LINES = 80
FILE_LINES = 300
FILE_LINES_AT_MOST = 400
VERB_LINES = 80
PARAMETERS = 6
POSITIONAL = 2
STRING_LINES = 12
LOOP_FILES = ("rl/ppo.py", "rl/imitate.py", "rl/single_turn.py", "rl/rft.py", "rl/value_pretraining.py")
VAGUE_NAMES = {"utils", "util", "common", "helpers", "helper", "base", "manager", "misc"}
MEASURED = {"timeout", "duration", "latency", "elapsed", "delay", "deadline", "memory", "bandwidth"}
UNITS = {"s", "ms", "us", "ns", "seconds", "minutes", "hours", "bytes", "kib", "mib", "gib", "gb", "percent"}

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Source:
    """One Python file, parsed."""

    path: str
    """Path below the package or below tests, for messages and exceptions."""
    text: str
    """What it says."""
    tree: ast.Module
    """Its syntax tree."""
    broad_handlers: frozenset[str] = frozenset()
    """Files that may catch every exception, as errors.py lists them."""
    records: frozenset[str] = frozenset({"Record", "Config"})
    """Names of record classes, transitively over all files."""


@dataclass(frozen=True)
class Violation:
    """One broken house rule."""

    path: str
    """The file."""
    line: int
    """1-based line."""
    message: str
    """What is wrong and what the limit is."""

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.message}"


Rule = Callable[[Source], Iterator[Violation]]


def walk_functions(
    node: ast.AST, inside: tuple[ast.AST, ...] = ()
) -> Iterator[tuple[Function, tuple[ast.AST, ...]]]:
    """Every function with the classes and functions around it, outermost first."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, Function):
            yield child, inside
        scope = isinstance(child, ast.ClassDef | Function)
        yield from walk_functions(child, (*inside, child) if scope else inside)


def is_public(name: str) -> bool:
    """Whether a name is part of what others may use."""
    return not name.startswith("_")


def split_words(name: str) -> set[str]:
    """Lower-case words of a snake_case or CamelCase name."""
    return {word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", name)}


def check_length(source: Source) -> Iterator[Violation]:
    """A function has at most 40 lines (80 for a training loop or a verb), a file never more than 400."""
    lines = source.text.count("\n")
    if lines > FILE_LINES_AT_MOST:
        yield Violation(
            source.path, 1, f"file has {lines} lines, limit {FILE_LINES_AT_MOST}: it is two rooms"
        )
    verb = f"run_{Path(source.path).stem}" if source.path.startswith("cli/") else ""
    for function, _ in walk_functions(source.tree):
        assert function.end_lineno is not None
        length = function.end_lineno - function.lineno + 1
        long = source.path in LOOP_FILES or function.name == verb
        limit = LOOP_LINES if long else FUNCTION_LINES
        if length > limit:
            yield Violation(
                source.path, function.lineno, f"{function.name} has {length} lines, limit {limit}"
            )
        if function.name == verb and lines >= VERB_LINES:
            yield Violation(source.path, 1, f"verb file has {lines} lines, must be under {VERB_LINES}")


def check_parameters(source: Source) -> Iterator[Violation]:
    """At most 6 parameters, keyword-only after the second; a protocol's magic methods and tests are free."""
    for function, inside in walk_functions(source.tree):
        positional = [a.arg for a in (*function.args.posonlyargs, *function.args.args)]
        is_method = bool(inside) and isinstance(inside[-1], ast.ClassDef)
        static = any(isinstance(d, ast.Name) and d.id == "staticmethod" for d in function.decorator_list)
        if is_method and not static:
            positional = positional[1:]
        count = len(positional) + len(function.args.kwonlyargs)
        if count > PARAMETERS:
            yield Violation(source.path, function.lineno, f"{function.name} has {count} parameters, limit 6")
        free = function.name.startswith(("test_", "__")) or is_fixture(function)
        if len(positional) > POSITIONAL and not free:
            third = positional[POSITIONAL]
            yield Violation(source.path, function.lineno, f"{function.name}: `{third}` must be keyword-only")


def is_fixture(function: Function) -> bool:
    """Whether pytest, not a caller, supplies the arguments."""
    return any("fixture" in ast.unparse(decorator) for decorator in function.decorator_list)


def check_names(source: Source) -> Iterator[Violation]:
    """A name says what a thing is: no utils, common, helpers, base, manager."""
    for part in Path(source.path).with_suffix("").parts:
        if vague := split_words(part) & VAGUE_NAMES:
            yield Violation(source.path, 1, f"`{vague.pop()}` in a file's name says nothing")
    for node in ast.walk(source.tree):
        if isinstance(node, ast.ClassDef) and (vague := split_words(node.name) & VAGUE_NAMES):
            yield Violation(source.path, node.lineno, f"`{vague.pop()}` in {node.name} says nothing")


def check_docstrings(source: Source) -> Iterator[Violation]:
    """A public docstring says more than the name does."""
    nodes: list[tuple[str, ast.Module | ast.ClassDef | Function]] = [(Path(source.path).stem, source.tree)]
    nodes += [(node.name, node) for node in ast.walk(source.tree) if isinstance(node, ast.ClassDef)]
    for function, inside in walk_functions(source.tree):
        owners = [owner.name for owner in inside if isinstance(owner, ast.ClassDef)]
        if len(owners) == len(inside) and all(map(is_public, owners)):
            nodes.append((function.name, function))
    for name, node in nodes:
        text = ast.get_docstring(node)
        if is_public(name) and (text is None or is_empty_talk(name, text)):
            line = 1 if isinstance(node, ast.Module) else node.lineno
            yield Violation(source.path, line, f"{name}: docstring is missing or only repeats the name")


def is_empty_talk(name: str, text: str) -> bool:
    """Whether `text` says nothing that `name` does not."""
    words = split_words(text) - split_words(name) - {"the", "a", "an", "of", "this", "is", "for"}
    return not words


def check_members(source: Source) -> Iterator[Violation]:
    """A record's field and an enumeration's member have a docstring under them; a record is frozen."""
    for node in ast.walk(source.tree):
        if not isinstance(node, ast.ClassDef) or not is_public(node.name):
            continue
        bases = {ast.unparse(base).split(".")[-1] for base in node.bases}
        dataclasses = [d for d in map(ast.unparse, node.decorator_list) if d.startswith("dataclass")]
        if dataclasses and "frozen=True" not in dataclasses[0]:
            yield Violation(source.path, node.lineno, f"{node.name}: a public dataclass is frozen")
        is_enum = bool(bases & {"StrEnum", "Enum", "IntEnum"})
        if not (is_enum or dataclasses or bases & (source.records | {"NamedTuple"})):
            continue
        for member, after in zip(node.body, [*node.body[1:], None], strict=True):
            name = read_member_name(member, is_enum)
            told = isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant) and after.value.value
            if name and not (isinstance(told, str) and not is_empty_talk(name, told)):
                yield Violation(source.path, member.lineno, f"{node.name}.{name}: no docstring with content")


def read_member_name(statement: ast.stmt, is_enum: bool) -> str:
    """The public field or member that a statement of a class body declares, or an empty string."""
    if isinstance(statement, ast.AnnAssign) and "ClassVar" not in ast.unparse(statement.annotation):
        target: ast.expr = statement.target
    elif isinstance(statement, ast.Assign) and is_enum:
        target = statement.targets[0]
    else:
        return ""
    return target.id if isinstance(target, ast.Name) and is_public(target.id) else ""


def check_handlers(source: Source) -> Iterator[Violation]:
    """Only the files that errors.py lists swallow every exception; cleaning up and raising on is free."""
    if source.path in source.broad_handlers:
        return
    for node in ast.walk(source.tree):
        if isinstance(node, ast.ExceptHandler):
            caught = ast.unparse(node.type) if node.type else "BaseException"
            last = node.body[-1]
            passes_on = isinstance(last, ast.Raise) and last.exc is None
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("suppress"):
            caught, passes_on = " ".join(map(ast.unparse, node.args)), False
        else:
            continue
        if re.search(r"\b(Base)?Exception\b", caught) and not passes_on:
            yield Violation(
                source.path, node.lineno, "catches everything, and errors.py does not list this file"
            )


def check_state(source: Source) -> Iterator[Violation]:
    """No singletons: nothing rebinds a module's names from inside a function."""
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Global):
            yield Violation(source.path, node.lineno, f"`global {', '.join(node.names)}`: pass it instead")


def check_texts(source: Source) -> Iterator[Violation]:
    """Prompts, templates and skill texts are data files, never strings in code."""
    documented = ast.Module | ast.ClassDef | Function
    docstrings = {id(n.body[0].value) for n in ast.walk(source.tree)
                  if isinstance(n, documented) and n.body and isinstance(n.body[0], ast.Expr)}  # fmt: skip
    for node in ast.walk(source.tree):
        is_text = isinstance(node, ast.JoinedStr) or (
            isinstance(node, ast.Constant) and isinstance(node.value, str)
        )
        if not is_text or id(node) in docstrings:
            continue
        assert isinstance(node, ast.expr)
        lines = (node.end_lineno or node.lineno) - node.lineno + 1
        if lines > STRING_LINES:
            yield Violation(source.path, node.lineno, f"a text of {lines} lines belongs in a data file")


def check_units(source: Source) -> Iterator[Violation]:
    """A number that measures something has its unit in its name."""
    for node in ast.walk(source.tree):
        if isinstance(node, ast.arg):
            name, annotation = node.arg, node.annotation
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            name, annotation = node.target.id, node.annotation
        else:
            continue
        is_number = annotation is not None and re.search(r"\b(int|float)\b", ast.unparse(annotation))
        if is_number and split_words(name) & MEASURED and not split_words(name) & UNITS:
            yield Violation(source.path, node.lineno, f"`{name}` needs its unit: {name}_s, {name}_bytes, ...")


WALL_CLOCKS = {"time.time", "time.time_ns", "time.ctime", "time.localtime", "time.gmtime"}
CALENDARS = {"now", "utcnow", "today"}
WALL_CLOCK_FILES = {
    "judge/baseline.py": "the date of a measurement that is kept",
    "llm/http.py": "a date that an endpoint wants to be left alone until",
    "rundir.py": "the date in a folder's name",
    "eviction.py": "ages of files, which the file system dates by that clock",
}
"""Who may look at the clock on the wall, which others set, and what for."""


def check_clocks(source: Source) -> Iterator[Violation]:
    """Whatever lasts is measured by the monotonic clock, so that setting the clock disturbs nothing."""
    for node in ast.walk(source.tree):
        if isinstance(node, ast.ImportFrom) and node.module == "time":
            looked = any(f"time.{alias.name}" in WALL_CLOCKS for alias in node.names)
        else:
            name = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
            calendar, _, method = name.rpartition(".")
            looked = name in WALL_CLOCKS or (
                method in CALENDARS and calendar.split(".")[-1] in ("date", "datetime")
            )
        if looked and source.path not in WALL_CLOCK_FILES:
            message = "reads the wall clock, which may jump: use time.monotonic()"
            yield Violation(source.path, getattr(node, "lineno", 1), message)


EVERYWHERE: tuple[Rule, ...] = (check_length, check_parameters, check_names)
IN_PACKAGE: tuple[Rule, ...] = (
    *EVERYWHERE,
    check_docstrings,
    check_members,
    check_handlers,
    check_state,
    check_texts,
    check_units,
    check_clocks,
)

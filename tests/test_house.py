"""The house rules hold, and each of them can fail."""

import ast
import dataclasses
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.house import (
    EVERYWHERE,
    FILE_LINES,
    FILE_LINES_AT_MOST,
    IN_PACKAGE,
    WALL_CLOCK_FILES,
    Rule,
    Source,
    check_clocks,
    check_docstrings,
    check_handlers,
    check_length,
    check_members,
    check_names,
    check_parameters,
    check_state,
    check_texts,
    check_units,
    is_public,
    walk_functions,
)

REPOSITORY = Path(__file__).resolve().parents[1]
PACKAGE = REPOSITORY / "src" / "cuda_agent"
TESTS = REPOSITORY / "tests"
# Tests of the whole house, which mirror no one file.
WHOLE_HOUSE = {
    "test_house.py",
    "test_docs.py",
    "test_examples.py",
    "test_tiny.py",
    "test_hacks.py",
    "test_honest.py",
    "test_judge_report.py",
    "test_agreement.py",
    "test_runs.py",
    "test_memory_over_time.py",
    "test_expert_coverage.py",
    "test_field_reports.py",
    "test_venv_script.py",
    "test_kernel_header.py",  # kernel.h, which is no Python
}
# Parts that only the whole they belong to can show to work, and where that is.
TESTED_ELSEWHERE: dict[str, str] = {
    # One machine in several processes: only together do these do anything, and test_judge.py runs them so.
    **dict.fromkeys(
        (f"judge/{name}.py" for name in ("audit", "child", "profile", "reference")),
        "judge/test_judge.py",
    ),
    **dict.fromkeys((f"judge/{name}.py" for name in ("runner", "session", "verify")), "judge/test_judge.py"),
    # Joins processes that only a stage has.
    "rl/verl_adapter/processes.py": "rl/verl_adapter/test_rft.py",
}
# Specimens, skill texts and tasks (whose forward is called by position) are data, even where they are Python.
DATA_FOLDERS = {"skill", "hacks", "honest", "tasks_for_judge"}


def find_files(root: Path) -> Iterator[Path]:
    """Python files below `root` that are code of ours."""
    for path in sorted(root.rglob("*.py")):
        if not DATA_FOLDERS & set(path.relative_to(root).parts[:-1]):
            yield path


def load_sources(root: Path) -> list[Source]:
    """Parse every file below `root`, with what the rules must know about all of them together."""
    texts = {path.relative_to(root).as_posix(): path.read_text() for path in find_files(root)}
    trees = {path: ast.parse(text) for path, text in texts.items()}
    listed = (
        re.findall(r"`([a-z_/]+\.py)`", ast.get_docstring(trees["errors.py"]) or "")
        if "errors.py" in trees
        else []
    )
    records = find_records(list(trees.values()))
    return [
        Source(path, texts[path], trees[path], broad_handlers=frozenset(listed), records=records)
        for path in texts
    ]


def find_records(trees: list[ast.Module]) -> frozenset[str]:
    """Names of all classes that descend from Record."""
    parents = {
        node.name: {ast.unparse(base).split(".")[-1] for base in node.bases}
        for tree in trees
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
    }
    records = {"Record", "Config"}
    while more := {name for name, bases in parents.items() if bases & records} - records:
        records |= more
    return frozenset(records)


def apply(rules: tuple[Rule, ...], sources: list[Source]) -> str:
    """What breaks the rules, one a line."""
    return "\n".join(str(violation) for source in sources for rule in rules for violation in rule(source))


def test_package_keeps_the_rules() -> None:
    sources = load_sources(PACKAGE)
    assert len(sources) > 10
    assert not (broken := apply(IN_PACKAGE, sources)), broken


def test_tests_keep_the_rules() -> None:
    assert not (broken := apply(EVERYWHERE, load_sources(TESTS))), broken


def test_a_long_file_is_rare() -> None:
    sources = load_sources(PACKAGE)
    long = [source.path for source in sources if source.text.count("\n") > FILE_LINES]
    assert len(long) <= len(sources) // 50, f"more than one file in 50 has over {FILE_LINES} lines: {long}"


PLANTED: dict[str, tuple[Rule, str, int]] = {
    "long function": (check_length, "def f():\n" + "    x = 1\n" * 40, 1),
    "long file": (check_length, "x = 1\n" * (FILE_LINES_AT_MOST + 1), 1),
    "long verb": (check_length, "def run_planted():\n    x = 1\n" + "y = 1\n" * 78, 1),
    "seven parameters": (check_parameters, "def f(*, a, b, c, d, e, f, g): ...\n", 1),
    "third positional": (check_parameters, "class A:\n    def f(self, a, b, c): ...\n", 2),
    "vague class": (check_names, "class TaskManager: ...\n", 1),
    "empty docstring": (
        check_docstrings,
        '"""Some words."""\ndef load_task():\n    """Load the task."""\n',
        2,
    ),
    "missing docstring": (check_docstrings, '"""Some words."""\nclass A:\n    def f(self): ...\n', 2),
    "bare field": (check_members, "class A(Record):\n    x: int\n    y: int\n    'Why.'\n", 2),
    "bare member": (check_members, "class A(StrEnum):\n    X = 'x'\n    'Why.'\n    Z = 'z'\n", 4),
    "thawed dataclass": (check_members, "@dataclass\nclass A:\n    x: int\n    'Why.'\n", 2),
    "swallowed": (check_handlers, "try:\n    f()\nexcept Exception:\n    pass\n", 3),
    "swallowed bare": (check_handlers, "try:\n    f()\nexcept:\n    pass\n", 3),
    "suppressed": (check_handlers, "with contextlib.suppress(Exception):\n    f()\n", 1),
    "global": (check_state, "def f():\n    global x\n    x = 1\n", 2),
    "prompt in code": (check_texts, "X = '''\n" + "Dear model\n" * 13 + "'''\n", 1),
    "wall clock": (check_clocks, "import time\nstart = time.time()\n", 2),
    "calendar": (check_clocks, "start = datetime.datetime.now(zone)\n", 1),
    "wall clock by name": (check_clocks, "from time import time\n", 1),
    "unit": (check_units, "def f(timeout: float): ...\n", 1),
}


@pytest.mark.parametrize("name", PLANTED)
def test_planted_violation_is_found(name: str) -> None:
    rule, text, line = PLANTED[name]
    found = list(rule(Source("cli/planted.py", text, ast.parse(text))))
    assert [violation.line for violation in found][:1] == [line]


def test_good_file_passes() -> None:
    text = '''\
"""What a good file looks like."""


@dataclass(frozen=True)
class Pause:
    """A rest between two attempts."""

    duration_s: float
    """How long."""

    def __exit__(self, kind, error, trace): ...


def rest(pause: Pause, reason: str, *, timeout_s: float) -> None:
    """Wait, unless the time runs out first."""
    try:
        sleep(pause.duration_s)
    except BaseException:
        wake()
        raise
'''
    assert not apply(IN_PACKAGE, [Source("room/rest.py", text, ast.parse(text))])


def test_listed_file_may_catch_everything() -> None:
    text = "try:\n    f()\nexcept Exception:\n    pass\n"
    listed = Source("cli/main.py", text, ast.parse(text), broad_handlers=frozenset({"cli/main.py"}))
    assert not list(check_handlers(listed))
    handlers = load_sources(PACKAGE)[0].broad_handlers
    assert "cli/main.py" in handlers
    assert not {path for path in handlers if not (PACKAGE / path).exists()}


def test_whoever_may_look_at_the_wall_clock_does() -> None:
    sources = {source.path: source for source in load_sources(PACKAGE)}
    for path in WALL_CLOCK_FILES:
        elsewhere = dataclasses.replace(sources[path], path="room/elsewhere.py")
        assert list(check_clocks(elsewhere)), f"stale exception: {path}"


def test_floors() -> None:
    pytest.importorskip("importlinter.cli", reason="needs import-linter (extra dev)")
    # In a process of its own: it switches off the loggers of whatever runs after it.
    program = "from importlinter.cli import lint_imports; raise SystemExit(lint_imports(no_cache=True))"
    env = {**os.environ, "PYTHONPATH": str(PACKAGE.parent)}
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=REPOSITORY, env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_data_file_is_installed() -> None:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())
    patterns = project["tool"]["setuptools"]["package-data"]["*"]
    files = [p for p in PACKAGE.rglob("*") if p.is_file() and p.suffix not in {".py", ".pyc"}]
    assert files
    assert [p for p in files if not any(map(p.match, patterns))] == []


def run_python(program: str) -> str:
    """What a fresh interpreter prints."""
    env = {**os.environ, "PYTHONPATH": str(PACKAGE.parent)}
    done = subprocess.run(
        [sys.executable, "-c", program], env=env, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def test_importing_the_package_costs_nothing() -> None:
    program = "import sys; before = set(sys.modules); import cuda_agent; print(*set(sys.modules) - before)"
    assert run_python(program) == "cuda_agent"


def test_command_line_starts_without_torch() -> None:
    assert run_python("import sys, cuda_agent.cli.main; print('torch' in sys.modules)") == "False"


def does_something(source: Source) -> bool:
    """Whether a file has code to test: a function that is more than a signature."""
    bodies = [function.body for function, _ in walk_functions(source.tree)]
    ellipsis = ast.dump(ast.Expr(ast.Constant(...)))
    return any(ast.dump(statement) != ellipsis for body in bodies for statement in body[-1:])


def is_test_of(test: str, source: str) -> bool:
    """Whether the test file `test` is for the file `source`: its name, or its name and what of it."""
    stem = source.removesuffix(".py")
    return test == stem or test.startswith(f"{stem}_")


def test_tests_mirror_the_package() -> None:
    sources = [s for s in load_sources(PACKAGE) if is_public(Path(s.path).stem)]
    paths = {p.relative_to(TESTS) for p in find_files(TESTS) if p.name.startswith("test_")}
    tests = {(p.parent / p.stem.removeprefix("test_")).as_posix() for p in paths if p.name not in WHOLE_HOUSE}
    working = {s.path for s in sources if does_something(s)}
    untested = sorted(
        s for s in working - TESTED_ELSEWHERE.keys() if not any(is_test_of(t, s) for t in tests)
    )
    orphans = sorted(t for t in tests if not any(is_test_of(t, s.path) for s in sources))
    assert not untested, f"files of the package without tests/<room>/test_<file>.py: {untested}"
    assert not orphans, f"tests that mirror no file of the package: {orphans}"
    for source, test in TESTED_ELSEWHERE.items():
        assert (PACKAGE / source).exists(), f"stale exception: {source}"
        assert (TESTS / test).exists(), f"stale exception: {test}"

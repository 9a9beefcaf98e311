"""Every field report has a test that is really there, or a reason why it has none."""

import ast
import re
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]
DOCUMENT = REPOSITORY / "docs" / "field-reports.md"
ROW = re.compile(r"^\| (U\d+) \| (.+) \| (.+) \| (.+) \|$", re.MULTILINE)
REASON = re.compile(r"no test: \w.{20}")
NAMED = re.compile(r"`(tests/[\w/.-]+)(?:::(\w+))?`")


def list_functions(path: Path) -> set[str]:
    return {node.name for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.FunctionDef)}


def test_every_report_has_a_row_and_every_row_a_test_that_exists_or_a_reason() -> None:
    rows = {row[0]: row[3] for row in ROW.findall(DOCUMENT.read_text())}
    assert list(rows) == [f"U{number:02}" for number in range(1, 61)]
    for report, told in rows.items():
        named = NAMED.findall(told)
        assert named or REASON.match(told), f"{report} names no test, and no reason why it has none"
        for file, function in named:
            path = REPOSITORY / file
            assert path.exists(), f"{report}: {file} is not there"
            if path.suffix == ".py":
                assert function.startswith("test_"), f"{report}: {file} without a test's name"
                assert function in list_functions(path), f"{report}: {file} has no {function}"
            else:
                assert (path / "case.toml").exists(), f"{report}: {file} is no case"

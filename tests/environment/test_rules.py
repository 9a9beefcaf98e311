"""The rules stage ends in a status for every submission."""

from pathlib import Path

import pytest

from cuda_agent.environment.result import RulesStatus
from cuda_agent.environment.rules import check_rules
from cuda_agent.environment.submission import Submission, freeze_submission
from cuda_agent.environment.toolchain import SKILL
from cuda_agent.tasks.target import Target


def test_a_right_submission_passes(submission: Submission) -> None:
    assert check_rules(submission, Target.CPU).status is RulesStatus.OK


@pytest.mark.parametrize("target", list(Target))
def test_the_skill_s_examples_pass(target: Target) -> None:
    result = check_rules(freeze_submission(SKILL / "examples" / target.value), target)
    assert result.violations == ()


@pytest.mark.parametrize(
    "source",
    [b"def f(:", b"x = " + b"(" * 5000, b"x = " + b"-" * 100_000 + b"1"],
    ids=["syntax", "deep", "deeper"],
)
def test_what_does_not_parse_is_a_status(submission: Submission, source: bytes) -> None:
    broken = Submission({**submission.files, "model_new.py": source})
    assert check_rules(broken, Target.CPU).status in (RulesStatus.SYNTAX_ERROR, RulesStatus.VIOLATION)


def test_a_syntax_error_names_its_line(submission: Submission) -> None:
    broken = Submission({**submission.files, "model_new.py": b"import torch\ndef f(:\n"})
    result = check_rules(broken, Target.CPU)
    assert result.status is RulesStatus.SYNTAX_ERROR
    assert result.violations[0].line == 2


@pytest.mark.parametrize(
    "files",
    [
        {"kernels/a.cpp": b"int a;"},
        {"model_new.py": b"\xff\xfe"},
        {"model_new.py": b"x = 1\0"},
        {"model_new.py": b"x = 1", "kernels/a.cu": b""},
    ],
    ids=["no model", "not text", "NUL", "wrong target"],
)
def test_bad_files_are_named(files: dict[str, bytes]) -> None:
    assert check_rules(Submission(files), Target.CPU).status is RulesStatus.BAD_FILES


def test_problems_of_freezing_are_reported(folder: Path) -> None:
    (folder / "kernels" / "link.h").symlink_to("/etc/passwd")
    result = check_rules(freeze_submission(folder), Target.CPU)
    assert result.status is RulesStatus.BAD_FILES
    assert "link" in result.reason


def test_violations_of_all_files_are_counted(submission: Submission) -> None:
    files = {
        **submission.files,
        "kernels/b.h": b"#include <thread>\n",
        "kernels/c.h": b"#include <dlfcn.h>\n",
    }
    result = check_rules(Submission(files), Target.CPU)
    assert result.status is RulesStatus.VIOLATION
    assert [violation.file for violation in result.violations] == ["kernels/b.h", "kernels/c.h"]
    assert result.reason == "2 rules are broken"


def test_a_macro_of_one_file_is_held_to_the_rules_in_another(submission: Submission) -> None:
    header = b"#define PRAGMA(x) _Pragma(#x)\n"
    uses = {b"PRAGMA(omp parallel)\n": RulesStatus.OK, b"PRAGMA(weak f)\n": RulesStatus.VIOLATION}
    for use, status in uses.items():
        files = {**submission.files, "kernels/p.h": header, "kernels/q.h": use}
        assert check_rules(Submission(files), Target.CPU).status is status


@pytest.mark.parametrize(
    "cookie", [b"# coding: utf-7\n", b"#!python\n# -*- coding: latin-1 -*-\n", b"# coding: nonsense\n"]
)
def test_a_coding_cookie_is_refused(submission: Submission, cookie: bytes) -> None:
    disguised = Submission({**submission.files, "model_new.py": cookie + submission.files["model_new.py"]})
    assert check_rules(disguised, Target.CPU).status is RulesStatus.SYNTAX_ERROR


@pytest.mark.parametrize(
    "line",
    [b"import typing; x = typing.sys", b"from collections.abc import sys", b"import enum; x = enum.sys"],
)
def test_what_a_python_module_imports_is_not_reachable_through_it(
    submission: Submission, line: bytes
) -> None:
    reaching = Submission(
        {**submission.files, "model_new.py": submission.files["model_new.py"] + b"\n" + line + b"\n"}
    )
    assert check_rules(reaching, Target.CPU).status is RulesStatus.VIOLATION

"""The first error is found in what compilers really print."""

import pytest

from cuda_agent.environment.diagnose import classify_failure, find_first_error
from cuda_agent.environment.result import BuildStatus
from cuda_agent.sandbox.protocol import Completed

SOURCES = {"kernels/a.cpp": b"one\n  int x = y;\nthree\n", "kernels/a.cu": b"one\ntwo\n  int x = y;\n"}

GCC = """\
In file included from kernels/a.cpp:1:
/usr/include/x.h:3:1: warning: unused
kernels/a.cpp:2:11: error: 'y' was not declared in this scope
    2 |   int x = y;
      |           ^
kernels/a.cpp:3:1: error: 'three' does not name a type
"""
NVCC = """\
kernels/a.cu(3): error: identifier "y" is undefined
    int x = y;
            ^

1 error detected in the compilation of "kernels/a.cu".
"""
HEADER = """\
In file included from kernels/a.cpp:2:
/usr/lib/gcc/x.h: In function 'int main()':
/usr/lib/gcc/x.h:8:1: error: inlining failed: target specific option mismatch
    8 | f()
kernels/a.cpp:2:3: note: called from here
"""


def end(stderr: str, *, timed_out: bool = False) -> Completed:
    return Completed(returncode=1, stdout="", stderr=stderr, timed_out=timed_out, duration_s=1.0)


def test_gcc_s_first_error_with_its_lines() -> None:
    lines = find_first_error(GCC, SOURCES).splitlines()
    assert lines[0] == "kernels/a.cpp:2:11: error: 'y' was not declared in this scope"
    assert lines[1:] == ["    2 |   int x = y;", "      |           ^"]


def test_nvcc_s_first_error_with_its_lines() -> None:
    lines = find_first_error(NVCC, SOURCES).splitlines()
    assert lines[0] == 'kernels/a.cu(3): error: identifier "y" is undefined'
    assert lines[1].strip() == "int x = y;"


def test_a_bare_error_gets_its_line_of_source() -> None:
    assert (
        find_first_error("kernels/a.cpp:2:1: error: bad\n", SOURCES).splitlines()[1].strip() == "int x = y;"
    )


def test_an_error_in_a_header_says_where_the_submission_comes_in() -> None:
    text = find_first_error(HEADER, SOURCES)
    assert text.startswith("/usr/lib/gcc/x.h:8:1: error")
    assert "int x = y;" in text


def test_linker_errors_and_silence() -> None:
    assert "multiple definition of `f'" in find_first_error(
        "b.o: multiple definition of `f'; a.o: here\n", {}
    )
    assert find_first_error("", {}) == ""
    assert len(find_first_error("x" * 10_000, {})) < 300


@pytest.mark.parametrize(
    ("stderr", "status"),
    [
        ("kernels/a.cpp:1:10: fatal error: b.h: No such file or directory", BuildStatus.MISSING_HEADER),
        ("cc1plus: out of memory allocating 65536 bytes", BuildStatus.OUT_OF_MEMORY),
        ("g++: fatal error: Killed signal terminated program cc1plus", BuildStatus.OUT_OF_MEMORY),
        ("fatal error: error writing to a.o: No space left on device", BuildStatus.DISK_FULL),
        ("kernels/a.cpp:2:1: error: expected ';'", BuildStatus.COMPILE_ERROR),
    ],
)
def test_kinds_of_failure(stderr: str, status: BuildStatus) -> None:
    assert classify_failure(end(stderr), BuildStatus.COMPILE_ERROR) is status


def test_time_is_up_whatever_was_printed() -> None:
    assert classify_failure(end(GCC, timed_out=True), BuildStatus.COMPILE_ERROR) is BuildStatus.TIMED_OUT

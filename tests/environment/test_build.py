"""Every source ends as a library or as a status with the lines that matter."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from cuda_agent.environment.build import build_submission
from cuda_agent.environment.result import BuildResult, BuildStatus
from cuda_agent.environment.submission import Submission, freeze_submission
from cuda_agent.environment.toolchain import SKILL, find_cxx
from cuda_agent.errors import InfrastructureError
from cuda_agent.sandbox.protocol import Command, Completed, Sandbox
from cuda_agent.tasks.target import Target

HEADER = b"#include <cuda_agent/kernel.h>\n"
EXPORT = b"static void f() {}\nEXPORT_KERNEL(f, f);\n"


def build(files: dict[str, bytes], sandbox: Sandbox, *, folder: Path, timeout_s: float = 60.0) -> BuildResult:
    sources = {f"kernels/{name}": content for name, content in files.items()}
    result, library = build_submission(
        Submission({"model_new.py": b"", **sources}),
        target=Target.CPU,
        sandbox=sandbox,
        folder=folder,
        timeout_s=timeout_s,
    )
    assert (library is not None) == (result.status is BuildStatus.OK)
    assert result.status is BuildStatus.OK or result.reason
    assert list(folder.glob("*")) == ([library] if library else [])
    return result


def test_a_right_submission_builds_in_every_sandbox(
    submission: Submission, sandbox: Sandbox, tmp_path: Path
) -> None:
    result, library = build_submission(submission, target=Target.CPU, sandbox=sandbox, folder=tmp_path)
    assert result.status is BuildStatus.OK, result
    assert result.functions == ("relu_scale",)
    assert library == tmp_path / "kernels.so"
    exported = subprocess.run(
        ["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True
    )
    assert [line.split()[-1] for line in exported.stdout.splitlines()] == ["__tvm_ffi_relu_scale"]


def test_several_units_and_a_shared_header(plain_sandbox: Sandbox, tmp_path: Path) -> None:
    unit = HEADER + b'#include "shared.h"\nstatic void NAME() { one(); }\nEXPORT_KERNEL(NAME, NAME);\n'
    files = {f"{name}.cpp": unit.replace(b"NAME", name.encode()) for name in "abc"}
    result = build({**files, "shared.h": b"inline int one() { return 1; }\n"}, plain_sandbox, folder=tmp_path)
    assert result.functions == ("a", "b", "c")


FAILURES = {
    "compile": ({"a.cpp": HEADER + b"int x = y;\n"}, BuildStatus.COMPILE_ERROR, "kernels/a.cpp:2"),
    "second unit": (
        {"a.cpp": HEADER + EXPORT, "b.cpp": b"oops"},
        BuildStatus.COMPILE_ERROR,
        "kernels/b.cpp:1",
    ),
    "header": ({"a.cpp": b'#include "none.h"\n'}, BuildStatus.MISSING_HEADER, "none.h"),
    "twice": (
        {"a.cpp": HEADER + EXPORT + b"int g() { return 1; }", "b.cpp": b"int g() { return 2; }"},
        BuildStatus.LINK_ERROR,
        "multiple definition",
    ),
    "symbol": (
        {"a.cpp": HEADER + b'#include <stdlib.h>\nstatic void f() { system("true"); }\nEXPORT_KERNEL(f, f);'},
        BuildStatus.FORBIDDEN_SYMBOL,
        "",
    ),
    "instruction": (
        {"a.cpp": HEADER + b'static void f() { asm("syscall"); }\nEXPORT_KERNEL(f, f);'},
        BuildStatus.FORBIDDEN_SYMBOL,
        "",
    ),
    "no export": ({"a.cpp": b"int x;\n"}, BuildStatus.NO_KERNELS, ""),
    "only a header": ({"a.h": b"int x;\n"}, BuildStatus.NO_KERNELS, ""),
    "recursion": (
        {"a.cpp": b"template <int N> struct A { static const int v = A<N + 1>::v; }; int x = A<0>::v;"},
        BuildStatus.COMPILE_ERROR,
        "depth",
    ),
    "huge object": ({"a.cpp": b"char x[1L << 30] = {1};\n"}, BuildStatus.DISK_FULL, ""),
}


@pytest.mark.parametrize("case", FAILURES)
def test_failures_are_statuses(case: str, plain_sandbox: Sandbox, tmp_path: Path) -> None:
    files, status, line = FAILURES[case]
    result = build(files, plain_sandbox, folder=tmp_path)
    assert result.status is status, result
    assert line in result.error_lines


def test_an_error_told_on_stdout_is_seen(
    plain_sandbox: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiler = tmp_path / "c++"
    compiler.write_text(f'#!/bin/sh\nexec {find_cxx()} "$@" 2>&1\n')
    compiler.chmod(0o755)
    monkeypatch.setenv("CUDA_AGENT_CXX", str(compiler))
    result = build({"a.cpp": HEADER + b"int x = y;\n"}, plain_sandbox, folder=tmp_path / "built")
    assert result.status is BuildStatus.COMPILE_ERROR
    assert "kernels/a.cpp:2" in result.error_lines
    assert "was not declared" in result.log


BOMB = b"""
template <int A, int B, int C> struct X {
  static constexpr unsigned long v = X<A - 1, B, C + 1>::v + X<A, B - 1, C + 2>::v;
};
template <int B, int C> struct X<0, B, C> { static constexpr unsigned long v = 1; };
template <int A, int C> struct X<A, 0, C> { static constexpr unsigned long v = 1; };
long x = X<440, 440, 0>::v;
"""


@pytest.mark.parametrize("source", [BOMB, b"#include </dev/zero>\n"], ids=["templates", "endless include"])
def test_bombs_end(sandbox: Sandbox, tmp_path: Path, source: bytes) -> None:
    result = build({"a.cpp": source}, sandbox, folder=tmp_path, timeout_s=3.0)
    assert result.status in (BuildStatus.TIMED_OUT, BuildStatus.OUT_OF_MEMORY), result
    assert result.duration_s < 30


def test_a_full_disk_is_the_machines_fault(
    plain_sandbox: Sandbox, tmp_path: Path, submission: Submission
) -> None:
    class Full:
        containment = plain_sandbox.containment
        start = plain_sandbox.start

        def run(self, command: Command, stdin: bytes = b"") -> Completed:
            raise OSError(28, os.strerror(28))

    with pytest.raises(InfrastructureError, match=r"no room to build in /.* MiB were free"):
        build_submission(submission, target=Target.CPU, sandbox=Full(), folder=tmp_path)


def test_no_room_for_an_object_is_the_machines_fault_where_there_was_none(
    plain_sandbox: Sandbox, tmp_path: Path, submission: Submission, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Narrow:
        containment = plain_sandbox.containment
        start = plain_sandbox.start

        def run(self, command: Command, stdin: bytes = b"") -> Completed:
            said = "fatal error: error writing to k.o: No space left on device"
            return Completed(returncode=1, stdout="", stderr=said, duration_s=0.1, timed_out=False)

    def build() -> tuple[BuildResult, Path | None]:
        return build_submission(submission, target=Target.CPU, sandbox=Narrow(), folder=tmp_path)

    usage = shutil.disk_usage("/")

    def report(*free_bytes: int) -> None:
        usages = iter([usage._replace(free=free) for free in free_bytes])
        monkeypatch.setattr(shutil, "disk_usage", lambda path: next(usages))

    report(1 << 40, 1 << 40)
    assert build()[0].status is BuildStatus.DISK_FULL
    # Full from the start; filled by others meanwhile; room for one object, but not for the library too.
    for before, after in ((1 << 20, 1 << 40), (1 << 40, 1 << 20), (300 << 20, 300 << 20)):
        report(before, after)
        with pytest.raises(InfrastructureError, match=f"{before / (1 << 20):.1f} MiB were free"):
            build()


@pytest.mark.nvcc
def test_cuda_sources_build_and_fail(plain_sandbox: Sandbox, tmp_path: Path) -> None:
    example = freeze_submission(SKILL / "examples" / "cuda")
    result, library = build_submission(example, target=Target.CUDA, sandbox=plain_sandbox, folder=tmp_path)
    assert result.status is BuildStatus.OK, result
    assert result.functions == ("silu_scale",)
    assert library is not None
    broken = Submission({**example.files, "kernels/b.cu": b"__global__ void k() { int x = y; }\n"})
    result, _ = build_submission(broken, target=Target.CUDA, sandbox=plain_sandbox, folder=tmp_path / "b")
    assert result.status is BuildStatus.COMPILE_ERROR
    assert "kernels/b.cu(1): error" in result.error_lines


@pytest.mark.nvcc
def test_a_device_function_that_is_not_inline_builds(plain_sandbox: Sandbox, tmp_path: Path) -> None:
    source = HEADER + b"__device__ float twice(float x) { return x + x; }\n" + EXPORT
    submission = Submission({"model_new.py": b"", "kernels/a.cu": source})
    result, _ = build_submission(submission, target=Target.CUDA, sandbox=plain_sandbox, folder=tmp_path)
    assert result.status is BuildStatus.OK, result

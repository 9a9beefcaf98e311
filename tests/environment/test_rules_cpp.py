"""Kernel sources may include what computing needs, and nothing hides an include."""

import pytest

from cuda_agent.environment.rules_cpp import check_cpp
from cuda_agent.tasks.target import Target

HONEST = r"""
// #include <thread> and asm("syscall") in a comment
#include <cuda_agent/kernel.h>
#include "shared.h"
#  include <immintrin.h>
#include <vector>
#define JOIN(a, b) \
  a##b
#pragma omp parallel for
#pragma GCC optimize("O3")
_Pragma("GCC ivdep")
#ifndef PRAGMA
#define PRAGMA(x) _Pragma(#x)
#endif
#if defined(PRAGMA) && !defined PRAGMA_
#define EVERY(...) \
  _Pragma(#__VA_ARGS__) for (;;)
#endif
#define UNROLL(n) PRAGMA(unroll n)
#define GCC_UNROLL(n) PRAGMA(GCC unroll n)
PRAGMA(omp parallel for reduction(+ : a)) EVERY(omp simd, simdlen(8)) UNROLL(4)
#undef PRAGMA
const char* text = "#include <thread> /* asm(";
const char* raw = R"(
#include <thread>
)";
[[nodiscard]] int constructor(int section) { int a[2], b[1]; return a[b[0]] + section; }
__attribute__((always_inline)) inline int alias() { return [](int x) { return x; }(1); }
#if 0
it's nothing
#endif
"""

FORBIDDEN = [
    ("#include <fstream>", "include"),
    ("#include <thread>", "include"),
    ("#include <torch/extension.h>", "include"),
    ("#include <unistd.h>", "include"),
    ("#include </dev/zero>", "include"),
    ('#include "../model_new.py"', "include"),
    ('#include "other.h"', "include"),
    ("#include <cuda_runtime.h>", "include"),
    ("#include <cub/../../etc/passwd>", "include"),
    ("#include /* c */ <thread>", "include"),
    ("#inc\\\nlude <thread>", "include"),
    ("%:include <thread>", "include"),
    ("#define X <thread>\n#include X", "include"),
    ("// c \\\n x\n#include <thread>", "include"),
    ("int a = 1'0; char c = '\"';\n#include <thread>\n//\"", "include"),
    ("#include_next <vector>", "directive"),
    ("#import <vector>", "directive"),
    ('#embed "/etc/passwd"', "directive"),
    ('#line 1 "other.cpp"', "directive"),
    ("#pragma GCC plugin", "pragma"),
    ("#pragma comment", "pragma"),
    ('_Pragma("comment")', "pragma"),
    ("#define P x\n_Pragma(P)", "pragma"),
    ("#define P(x, y) _Pragma(#x)", "pragma"),
    ("#define P(x) _Pragma(x)", "pragma"),
    ("#define P(x) _Pragma(#y)", "pragma"),
    ("#define P(x) _Pragma(#x)\nP(GCC plugin)", "pragma"),
    ("#define P(x) _Pragma(#x)\nP(redefine_extname a b)", "pragma"),
    ("#define P(x) _Pragma(#x)\nP()", "pragma"),
    ('#define P(x) _Pragma(#x)\nP("x")', "pragma"),
    ("#define P(x) _Pragma(#x)\n#define Q P", "pragma"),
    ("#define P(x) _Pragma(#x)\n#define Q(omp) P(omp)", "pragma"),
    ("#define P(x) _Pragma(#x)\n#define Q(ivdep) P(GCC ivdep)", "pragma"),
    ("#define P(x) _Pragma(#x)\n#define Q(x) P(omp ## x)", "pragma"),
    ("#define P(x) _Pragma(#x)\n#define Q(m, x) m(x)\nQ(P, weak f)", "pragma"),
    ('void f() { asm("syscall"); }', "assembly"),
    ('const char* s = ".incbin \\"x\\"";', "assembly"),
    ("__attribute__((constructor)) void f() {}", "attribute"),
    ("[[gnu::constructor]] void f() {}", "attribute"),
    ('__attribute__((section(".init_array"))) int x;', "attribute"),
    ("/* open", "syntax"),
]


def check(text: str, path: str = "kernels/a.cpp", *, target: Target = Target.CPU) -> list[tuple[int, str]]:
    own = frozenset({path, "kernels/shared.h"})
    return [(found.line, found.rule) for found in check_cpp(text, path, target=target, own_files=own)]


def test_an_honest_kernel_passes() -> None:
    assert check(HONEST) == []


@pytest.mark.parametrize(("text", "rule"), FORBIDDEN)
def test_forbidden_things_are_found(text: str, rule: str) -> None:
    assert [found for _, found in check(text)] == [rule]


def test_lines_are_named() -> None:
    assert check("\n\n#include <thread>\n") == [(3, "include")]


@pytest.mark.parametrize(
    "name", ["cuda_runtime.h", "cuda_fp16.h", "cublasLt.h", "cub/cub.cuh", "cuda/barrier"]
)
def test_cuda_headers_are_for_the_cuda_target(name: str) -> None:
    assert check(f"#include <{name}>", "kernels/a.cu", target=Target.CUDA) == []
    assert check(f"#include <{name}>") == [(1, "include")]


def test_ptx_is_for_device_code() -> None:
    ptx = 'asm volatile("cp.async.commit_group;");'
    assert check(ptx, "kernels/a.cu", target=Target.CUDA) == []
    assert check(ptx, "kernels/a.cpp", target=Target.CUDA) == [(1, "assembly")]


def test_nvrtc_and_thrust_are_refused_with_their_reasons() -> None:
    assert check("#include <nvrtc.h>\n#include <thrust/sort.h>", "kernels/a.cu", target=Target.CUDA) == [
        (1, "include"),
        (2, "include"),
    ]


def test_headers_for_tensors_only_where_torch_is_needed() -> None:
    text = "#include <torch/extension.h>\n#include <torch/nn.h>\n#include <thread>\n"
    for needs_torch, lines in ((True, [2, 3]), (False, [1, 2, 3])):
        found = check_cpp(
            text, "kernels/a.cpp", target=Target.CPU, own_files=frozenset(), needs_torch=needs_torch
        )
        assert [violation.line for violation in found] == lines

"""Command lines carry what the target needs and nothing that changes numbers."""

from pathlib import Path

import pytest

from cuda_agent.environment.compilers import Compilers, find_compilers
from cuda_agent.tasks.target import Target

CUDA = Compilers(
    Target.CUDA, Path("/g++"), Path("/cuda/bin/nvcc"), "sm_90a", (Path("/inc"),), (Path("/cuda/inc"),)
)


def test_cpu_sources_go_to_the_host_compiler() -> None:
    compilers = find_compilers(Target.CPU)
    command = compilers.compile_command("kernels/a.cpp", "a.o")
    assert command[0] == str(compilers.cxx)
    assert {"-O3", "-march=native", "-fopenmp", "-fvisibility=hidden"} <= set(command)
    assert command[-4:] == ["-c", "kernels/a.cpp", "-o", "a.o"]
    assert compilers.find_libraries([b"#include <cublas_v2.h>"]) == ()


def test_cuda_sources_go_to_nvcc_for_the_arch() -> None:
    command = CUDA.compile_command("kernels/a.cu", "a.o")
    assert command[0] == "/cuda/bin/nvcc"
    assert "-gencode=arch=compute_90a,code=sm_90a" in command
    assert CUDA.compile_command("kernels/a.cpp", "a.o")[0] == "/g++"
    assert "-DCUDA_AGENT_TARGET_CUDA" in CUDA.compile_command("kernels/a.cpp", "a.o")


def test_no_flag_loosens_arithmetic() -> None:
    for command in (
        CUDA.compile_command("a.cu", "o"),
        find_compilers(Target.CPU).compile_command("a.cpp", "o"),
    ):
        assert not any("fast-math" in flag or "fast_math" in flag for flag in command)


@pytest.mark.parametrize(
    ("source", "names"),
    [
        (b"#include <cublas_v2.h>\n", ["cublas"]),
        (b'  # include "cublasLt.h"\n#include <cudnn.h>\n', ["cublasLt", "cudnn"]),
        (b"#include <cuda.h>\n", ["cuda"]),
        (b"#include <cuda_runtime.h>\n// #include <x>\n", []),
    ],
)
def test_libraries_follow_the_headers(
    source: bytes, names: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "cuda_agent.environment.compilers.find_cuda_library", lambda name, nvcc: Path(f"lib{name}.so")
    )
    assert [path.name for path in CUDA.find_libraries([source])] == [f"lib{name}.so" for name in names]


def test_torch_is_there_only_where_it_is_needed() -> None:
    plain, with_torch = find_compilers(Target.CPU), find_compilers(Target.CPU, needs_torch=True)
    assert plain.torch_libraries == ()
    assert {library.name for library in with_torch.torch_libraries} >= {"libc10.so", "libtorch_cpu.so"}
    assert "-std=c++17" in plain.compile_command("a.cpp", "o")
    assert "-std=c++20" in with_torch.compile_command("a.cpp", "o")
    linked = with_torch.link_command(["a.o"], "a.so", libraries=())
    assert set(map(str, with_torch.torch_libraries)) < set(linked)

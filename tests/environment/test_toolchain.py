"""Compilers are found where they are, and what is missing is named with a mend."""

import subprocess
import sys
from pathlib import Path

import pytest

from cuda_agent.environment import toolchain
from cuda_agent.environment.build import build_submission
from cuda_agent.environment.result import BuildStatus
from cuda_agent.environment.submission import Submission
from cuda_agent.environment.toolchain import (
    find_cuda_arch,
    find_cuda_include_dirs,
    find_cxx,
    find_include_dirs,
    find_nvcc,
)
from cuda_agent.errors import ToolchainError
from cuda_agent.sandbox.process import ProcessSandbox
from cuda_agent.tasks.target import Target


def make_program(path: Path, text: str = "#!/bin/sh\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


def test_the_named_compiler_comes_first(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    mine = make_program(tmp_path / "my-c++")
    monkeypatch.setenv("CUDA_AGENT_CXX", str(mine))
    assert find_cxx() == mine
    monkeypatch.setenv("CUDA_AGENT_CXX", str(tmp_path / "none"))
    with pytest.raises(ToolchainError, match="CUDA_AGENT_CXX"):
        find_cxx()


def test_path_comes_before_cxx(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    other = make_program(tmp_path / "other" / "cc")
    monkeypatch.delenv("CUDA_AGENT_CXX", raising=False)
    monkeypatch.setenv("CXX", str(other))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    assert find_cxx() == other
    gxx = make_program(tmp_path / "bin" / "g++")
    assert find_cxx() == gxx
    monkeypatch.delenv("CXX")
    gxx.unlink()
    with pytest.raises(ToolchainError, match="install a C"):
        find_cxx()


def test_nvcc_of_cuda_home_then_of_path_then_of_a_wheel(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    home = make_program(tmp_path / "home" / "bin" / "nvcc")
    on_path = make_program(tmp_path / "path" / "nvcc")
    monkeypatch.setenv("CUDA_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PATH", str(tmp_path / "path"))
    assert find_nvcc() == home
    home.unlink()
    assert find_nvcc() == on_path
    on_path.unlink()
    wheel = make_program(tmp_path / "site" / "nvidia" / "cu13" / "bin" / "nvcc")
    monkeypatch.setattr(toolchain, "_site_packages", lambda: tmp_path / "site")
    if not Path("/usr/local/cuda/bin/nvcc").exists():
        assert find_nvcc() == wheel


def test_arch_is_the_device_s_or_hopper(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(toolchain, "_capability_from_torch", lambda: None)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_cuda_arch() == "sm_90a"
    for capability, arch in (("8.9", "sm_89"), ("9.0", "sm_90a"), ("12.0", "sm_120a")):
        make_program(tmp_path / "nvidia-smi", f"#!/bin/sh\necho {capability}\n")
        toolchain._ask_smi.cache_clear()
        assert [find_cuda_arch(), find_cuda_arch()] == [arch, arch]
    make_program(tmp_path / "nvidia-smi", "#!/bin/sh\necho no devices; exit 9\n")
    toolchain._ask_smi.cache_clear()
    assert find_cuda_arch() == "sm_90a"


def test_headers_are_found_without_importing_anything_heavy() -> None:
    assert (find_include_dirs()[0] / "cuda_agent" / "kernel.h").is_file()
    assert (find_include_dirs()[1] / "tvm" / "ffi" / "c_api.h").is_file()
    program = (
        "import sys; from cuda_agent.environment.toolchain import find_include_dirs; find_include_dirs(); "
    )
    program += "print(*{'torch', 'tvm_ffi'} & set(sys.modules))"
    output = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    ).stdout
    assert output.strip() == ""


@pytest.mark.nvcc
def test_cuda_headers_are_there_once_and_without_links() -> None:
    folders = find_cuda_include_dirs(find_nvcc())
    assert any((folder / "cuda_runtime.h").is_file() for folder in folders)
    assert len(set(folders)) == len(folders)
    assert all(folder == folder.resolve() for folder in folders)


def test_a_build_needs_the_system_s_path_alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CXX", raising=False)
    with pytest.raises(ToolchainError, match="apt-get install g"):
        find_cxx()
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    source = b"#include <cuda_agent/kernel.h>\nstatic void f() {}\nEXPORT_KERNEL(f, f);\n"
    result, _ = build_submission(
        Submission({"model_new.py": b"", "kernels/a.cpp": source}),
        target=Target.CPU,
        sandbox=ProcessSandbox(),
        folder=tmp_path / "built",
    )
    assert result.status is BuildStatus.OK, result

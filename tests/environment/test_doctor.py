"""Each check tells what is really there, and a mend where something is not."""

import importlib.metadata
import platform
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from cuda_agent.environment import doctor as module
from cuda_agent.environment.doctor import (
    Check,
    CheckStatus,
    can_run,
    check_containment,
    check_cores,
    check_cxx,
    check_gpu,
    check_memory,
    check_nvcc,
    check_torch,
    compare_space,
    parse_version,
    run_doctor,
)
from cuda_agent.errors import ToolchainError

GIB = 1 << 30
MakeProgram = Callable[[str, str], Path]


@pytest.fixture
def make_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> MakeProgram:
    """Puts a shell script first on PATH."""

    def make(name: str, script: str) -> Path:
        (tmp_path / name).write_text(f"#!/bin/sh\n{script}\n")
        (tmp_path / name).chmod(0o755)
        monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
        return tmp_path / name

    return make


@pytest.fixture(scope="module")
def checks() -> dict[str, Check]:
    """What is found on this machine, by name."""
    return {check.name.split(" at ")[0]: check for check in run_doctor()}


def test_every_check_is_there_and_a_failed_one_has_a_mend(checks: dict[str, Check]) -> None:
    expected = ["Python", "torch", "TVM-FFI", "C++ compiler", "nvcc", "GPU", "Containment", "Cores"]
    assert list(checks) == [*expected, "Free memory", "Free disk", "Size of /dev/shm"]
    for check in checks.values():
        assert check.found
        assert bool(check.mend) == (check.status is not CheckStatus.OK)


@pytest.mark.parametrize(("cores", "status"), [(1, CheckStatus.WEAK), (2, CheckStatus.OK)])
def test_cores_are_those_that_a_container_gives(
    cores: int, status: CheckStatus, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "count_cores", lambda: cores)
    check = check_cores()
    assert (check.found, check.status) == (str(cores), status)


def test_python_tells_its_version(checks: dict[str, Check]) -> None:
    assert checks["Python"].found.startswith(platform.python_version())


def test_torch_is_asked_for_its_version_and_build(checks: dict[str, Check]) -> None:
    version = importlib.metadata.version("torch")
    assert checks["torch"].found.startswith(version)
    assert ("cpu alone" in checks["torch"].found) == version.endswith("+cpu")


def test_a_broken_torch_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "TORCH_QUESTION", "raise ImportError")
    check = check_torch()
    assert check.status is CheckStatus.MISSING
    assert not can_run((check,))


def test_an_old_torch_is_weak(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "TORCH_QUESTION", "print('[\"2.4.1+cpu\", null, false]')")
    check = check_torch()
    assert check.status is CheckStatus.WEAK
    assert "torch>=2.11" in check.mend


def test_tvm_ffi_is_there(checks: dict[str, Check]) -> None:
    assert checks["TVM-FFI"].status is CheckStatus.OK


def test_the_compiler_is_tried(checks: dict[str, Check]) -> None:
    assert checks["C++ compiler"].status is CheckStatus.OK
    assert "OpenMP and -march=native work" in checks["C++ compiler"].found


def test_a_compiler_without_openmp_is_missing(
    make_program: MakeProgram, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = 'case "$*" in *fopenmp*) exit 1;; *) echo "toy 1.0";; esac'
    monkeypatch.setenv("CUDA_AGENT_CXX", str(make_program("toy", script)))
    check = check_cxx()
    assert check.status is CheckStatus.MISSING
    assert check.found == "toy 1.0; cannot build an OpenMP program"
    assert "g++" in check.mend


def test_no_compiler_names_the_mend(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_AGENT_CXX", "/no/such/compiler")
    check = check_cxx()
    assert check.status is CheckStatus.MISSING
    assert "/no/such/compiler" in check.mend


@pytest.mark.nvcc
def test_nvcc_tells_where_it_is_and_its_version(checks: dict[str, Check]) -> None:
    check = checks["nvcc"]
    assert check.status is CheckStatus.OK
    assert parse_version(check.found.split()[0]) >= (12, 8)
    assert "up to sm_" in check.found


def test_an_old_nvcc_is_weak_and_none_does_not_stop_the_cpu_target(
    make_program: MakeProgram, monkeypatch: pytest.MonkeyPatch
) -> None:
    nvcc = make_program("nvcc", "echo 'Cuda compilation tools, release 11.8, V11.8.89'")
    monkeypatch.setattr(module, "find_nvcc", lambda: nvcc)
    assert check_nvcc().status is CheckStatus.WEAK

    def find_none() -> Path:
        raise ToolchainError("no nvcc found: get it")

    monkeypatch.setattr(module, "find_nvcc", find_none)
    check = check_nvcc()
    assert (check.status, check.mend) == (CheckStatus.MISSING, "no nvcc found: get it")
    assert can_run((check,))


def test_the_gpu_is_told_with_driver_and_capability(make_program: MakeProgram) -> None:
    make_program("nvidia-smi", "for i in 1 2; do echo 'NVIDIA H200, 580.1, 9.0, 143771 MiB'; done")
    check = check_gpu()
    assert check.status is CheckStatus.OK
    assert check.found == "2 x NVIDIA H200, driver 580.1, compute capability 9.0, 143771 MiB"


def test_no_gpu_does_not_stop_the_cpu_target(make_program: MakeProgram) -> None:
    make_program("nvidia-smi", "echo 'No devices were found' >&2; exit 6")
    check = check_gpu()
    assert check.status is CheckStatus.MISSING
    assert can_run((check,))


def test_without_bubblewrap_the_containment_is_weak(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "find_bubblewrap_problem", lambda: "bwrap not found")
    check = check_containment()
    assert check.status is CheckStatus.WEAK
    assert "bwrap not found" in check.found
    assert "apt install bubblewrap" in check.mend


def test_free_memory_is_what_the_kernel_says() -> None:
    told_kib = subprocess.run(["free", "-k"], capture_output=True, text=True, check=True).stdout.split()[12]
    found_gib = float(check_memory().found.split()[0])
    assert found_gib == pytest.approx(int(told_kib) / (1 << 20), rel=0.2, abs=1.0)


@pytest.mark.parametrize(("there_bytes", "status"), [(2 * GIB, "ok"), (2 * GIB - 1, "weak"), (0, "weak")])
def test_space_is_compared_with_the_least(there_bytes: int, status: str) -> None:
    assert compare_space("Disk", there_bytes, least_gib=2).status == status


@pytest.mark.parametrize(
    ("text", "version"), [("2.13.0+cpu", (2, 13)), ("12.8", (12, 8)), ("3", (3,)), ("", (0,)), ("x.y", (0,))]
)
def test_versions(text: str, version: tuple[int, ...]) -> None:
    assert parse_version(text) == version


def test_only_a_needed_missing_part_stops() -> None:
    missing = Check(name="a", status=CheckStatus.MISSING, found="none", mend="get it")
    assert not can_run((missing,))
    assert can_run((missing.model_copy(update={"is_needed": False}),))
    assert can_run((missing.model_copy(update={"status": CheckStatus.WEAK}),))

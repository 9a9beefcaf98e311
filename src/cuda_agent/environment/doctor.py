"""What this machine can do, what is missing, and how to get it; everything is tried for real."""

import importlib.metadata
import json
import shutil
import subprocess
import sys
import tempfile
from enum import StrEnum
from pathlib import Path

from cuda_agent.config import Record
from cuda_agent.environment.toolchain import find_cxx, find_include_dirs, find_nvcc
from cuda_agent.errors import ToolchainError
from cuda_agent.sandbox.build import MEND, find_bubblewrap_problem
from cuda_agent.workers.cores import count_cores

GIB = 1 << 30
PYTHON = (3, 11)
TORCH = (2, 11)
NVCC = (12, 8)
MEMORY_GIB = 8
DISK_GIB = 10
SHARED_MEMORY_GIB = 1
COMMAND_S = 120

OPENMP_PROGRAM = "#include <omp.h>\nint main() { return omp_get_max_threads() > 0 ? 0 : 1; }\n"
TORCH_QUESTION = (
    "import json, torch; "
    "print(json.dumps([torch.__version__, torch.version.cuda, torch.cuda.is_available()]))"
)
GPU_QUESTION = "--query-gpu=name,driver_version,compute_cap,memory.total"


class CheckStatus(StrEnum):
    """How one check ended."""

    OK = "ok"
    """There, and good enough."""
    WEAK = "weak"
    """There, but something will be slower, less safe or impossible."""
    MISSING = "missing"
    """Not there, or not working."""


class Check(Record):
    """One thing looked for on this machine."""

    name: str
    """What was looked for."""
    status: CheckStatus
    """How it ended."""
    found: str
    """What is there."""
    mend: str = ""
    """How to get it or make it better; empty when OK."""
    is_needed: bool = True
    """Whether nothing works without it (a GPU and nvcc are needed for the cuda target only)."""


def run_doctor() -> tuple[Check, ...]:
    """Every check, in reading order; takes several seconds, most of it torch's import."""
    return (
        check_python(),
        check_torch(),
        check_tvm_ffi(),
        check_cxx(),
        check_nvcc(),
        check_gpu(),
        check_containment(),
        check_cores(),
        check_memory(),
        check_disk(),
        check_shared_memory(),
    )


def can_run(checks: tuple[Check, ...]) -> bool:
    """Whether a task can be made faster here, on the cpu target at least."""
    return not any(check.is_needed and check.status is CheckStatus.MISSING for check in checks)


def check_python() -> Check:
    """This interpreter."""
    found = f"{sys.version.split()[0]} at {sys.executable}"
    if sys.version_info >= PYTHON:
        return Check(name="Python", status=CheckStatus.OK, found=found)
    return Check(name="Python", status=CheckStatus.MISSING, found=found, mend="use Python 3.11 or newer")


def check_torch() -> Check:
    """PyTorch: its version, its build, and whether it sees a GPU. Asked in a process of its own."""
    answer = _ask(sys.executable, "-c", TORCH_QUESTION)
    if answer is None:
        return Check(name="torch", status=CheckStatus.MISSING, found="import fails", mend="pip install torch")
    version, cuda, sees_gpu = json.loads(answer.splitlines()[-1])
    build = f"built for CUDA {cuda}" if cuda else "built for the cpu alone"
    found = f"{version}, {build}{', sees a GPU' if sees_gpu else ''}"
    if parse_version(version) < TORCH:
        return Check(
            name="torch", status=CheckStatus.WEAK, found=found, mend="pip install --upgrade 'torch>=2.11'"
        )
    if not sees_gpu and Path("/dev/nvidia0").exists():
        mend = "install torch's CUDA build and a driver that is new enough for it"
        return Check(name="torch", status=CheckStatus.WEAK, found=found, mend=mend)
    return Check(name="torch", status=CheckStatus.OK, found=found)


def check_tvm_ffi() -> Check:
    """TVM-FFI, which binds kernels, with its headers."""
    try:
        version = importlib.metadata.version("apache-tvm-ffi")
        find_include_dirs()
    except (importlib.metadata.PackageNotFoundError, ToolchainError) as error:
        mend = "pip install apache-tvm-ffi"
        return Check(name="TVM-FFI", status=CheckStatus.MISSING, found=str(error), mend=mend)
    return Check(name="TVM-FFI", status=CheckStatus.OK, found=version)


def check_cxx() -> Check:
    """The C++ compiler, by building and running an OpenMP program for this very processor."""
    name = "C++ compiler"
    try:
        cxx = find_cxx()
    except ToolchainError as error:
        return Check(name=name, status=CheckStatus.MISSING, found="none", mend=str(error))
    version = (_ask(str(cxx), "--version") or "unknown version").splitlines()[0]
    with tempfile.TemporaryDirectory(prefix="cuda-agent-doctor-") as folder:
        source, program = Path(folder, "trial.cpp"), Path(folder, "trial")
        source.write_text(OPENMP_PROGRAM)
        flags = ("-std=c++17", "-O2", "-fopenmp", "-march=native")
        built = _ask(str(cxx), *flags, str(source), "-o", str(program)) is not None
        if built and _ask(str(program)) is not None:
            return Check(name=name, status=CheckStatus.OK, found=f"{version}; OpenMP and -march=native work")
    mend = "install a compiler with OpenMP (on Debian or Ubuntu: apt-get install g++)"
    return Check(
        name=name, status=CheckStatus.MISSING, found=f"{version}; cannot build an OpenMP program", mend=mend
    )


def check_nvcc() -> Check:
    """The CUDA compiler: where, which version, for which newest architecture."""
    try:
        nvcc = find_nvcc()
    except ToolchainError as error:
        return Check(name="nvcc", status=CheckStatus.MISSING, found="none", mend=str(error), is_needed=False)
    told = _ask(str(nvcc), "--version") or ""
    version = told.partition("release ")[2].partition(",")[0]
    archs = (_ask(str(nvcc), "--list-gpu-code") or "").split()
    newest = f", up to {archs[-1]}" if archs else ""
    found = f"{version or 'unknown version'} at {nvcc}{newest}"
    if parse_version(version) < NVCC:
        mend = "install the CUDA toolkit 12.8 or newer"
        return Check(name="nvcc", status=CheckStatus.WEAK, found=found, mend=mend, is_needed=False)
    return Check(name="nvcc", status=CheckStatus.OK, found=found, is_needed=False)


def check_gpu() -> Check:
    """The NVIDIA GPUs with driver and compute capability."""
    answer = _ask("nvidia-smi", GPU_QUESTION, "--format=csv,noheader")
    if not answer:
        mend = "the cuda target needs an NVIDIA GPU with its driver; the cpu target works without"
        return Check(name="GPU", status=CheckStatus.MISSING, found="none", mend=mend, is_needed=False)
    name, driver, capability, memory = answer.splitlines()[0].split(", ")
    count = len(answer.splitlines())
    found = f"{count} x {name}, driver {driver}, compute capability {capability}, {memory}"
    return Check(name="GPU", status=CheckStatus.OK, found=found, is_needed=False)


def check_containment() -> Check:
    """How untrusted code is contained here, by a trial run of bubblewrap."""
    problem = find_bubblewrap_problem()
    if not problem:
        return Check(name="Containment", status=CheckStatus.OK, found="bubblewrap works")
    found = f"process only: no file or network isolation, because bubblewrap does not work: {problem}"
    return Check(name="Containment", status=CheckStatus.WEAK, found=found, mend=MEND)


def check_cores() -> Check:
    """Processor cores this process may keep busy."""
    cores = count_cores()
    if cores < 2:
        mend = "use two cores or more: the judge and what it times share one"
        return Check(name="Cores", status=CheckStatus.WEAK, found=str(cores), mend=mend)
    return Check(name="Cores", status=CheckStatus.OK, found=str(cores))


def check_memory() -> Check:
    """Memory that is free."""
    lines = (line.split() for line in Path("/proc/meminfo").read_text().splitlines())
    free_bytes = next(int(words[1]) << 10 for words in lines if words[0] == "MemAvailable:")
    return compare_space("Free memory", free_bytes, least_gib=MEMORY_GIB)


def check_disk() -> Check:
    """Free disk where temporary files go."""
    free_bytes = shutil.disk_usage(tempfile.gettempdir()).free
    return compare_space(f"Free disk at {tempfile.gettempdir()}", free_bytes, least_gib=DISK_GIB)


def check_shared_memory() -> Check:
    """Size of /dev/shm, through which torch's worker processes share tensors."""
    path = Path("/dev/shm")
    total_bytes = shutil.disk_usage(path).total if path.is_dir() else 0
    return compare_space("Size of /dev/shm", total_bytes, least_gib=SHARED_MEMORY_GIB)


def compare_space(name: str, there_bytes: int, *, least_gib: int) -> Check:
    """OK when there is at least `least_gib`, else weak."""
    found = f"{there_bytes / GIB:.1f} GiB"
    if there_bytes >= least_gib * GIB:
        return Check(name=name, status=CheckStatus.OK, found=found)
    return Check(name=name, status=CheckStatus.WEAK, found=found, mend=f"have {least_gib} GiB or more")


def parse_version(text: str) -> tuple[int, ...]:
    """The leading numbers of a version, so `2.13.0+cpu` is (2, 13); (0,) when there are none."""
    numbers = [part for part in text.split("+")[0].split(".")[:2] if part.isdecimal()]
    return tuple(int(number) for number in numbers) or (0,)


def _ask(*argv: str) -> str | None:
    """What a program prints, or None when it is absent, fails or does not end."""
    try:
        answer = subprocess.run(argv, capture_output=True, text=True, timeout=COMMAND_S, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return answer.stdout if answer.returncode == 0 else None

"""Where this machine keeps its compilers, and the folders that kernels include from.

Nothing here imports torch or tvm_ffi: a build must not pay for either.
"""

import functools
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

from cuda_agent.errors import ToolchainError

SKILL = Path(__file__).parent / "skill"
"""The skill's folder: SKILL.md, references, examples and the light header."""

TORCH_INCLUDE = Path(__file__).parent / "torch_include"
"""Headers for kernels that are written against torch's."""
TORCH_LIBRARIES = ("c10", "torch_cpu", "c10_cuda", "torch_cuda")

FALLBACK_ARCH = "sm_90a"
"""The CUDA architecture to build for where no device says otherwise (Hopper)."""

CXX_NAMES = ("g++", "c++", "clang++")
NVCC_QUERY_S = 10.0

CXX_VARIABLE = "CUDA_AGENT_CXX"
CXX_MEND = (
    "install a C++17 compiler (on Debian or Ubuntu: apt-get install g++), "
    f"or name one in the variable {CXX_VARIABLE}"
)
NVCC_MEND = (
    "install the CUDA toolkit 12.8 or newer and put nvcc on PATH or its folder in CUDA_HOME, "
    "or install the wheels nvidia-cuda-nvcc and nvidia-cuda-cccl"
)
TVM_FFI_MEND = "install apache-tvm-ffi into this Python environment"


def find_cxx() -> Path:
    """The host C++ compiler: the variable CUDA_AGENT_CXX, else g++, c++ or clang++ on PATH, else CXX.

    CXX comes last, because it is often set for another purpose, to a compiler whose own C++ library
    is linked in, which the check of symbols would refuse.

    Raises:
        ToolchainError: there is none, or CUDA_AGENT_CXX names none.
    """
    asked = os.environ.get(CXX_VARIABLE, "").strip()
    for name in (asked,) if asked else (*CXX_NAMES, os.environ.get("CXX", "").strip()):
        found = shutil.which(name) if name else None
        if found:
            return Path(found)
    cause = f"{CXX_VARIABLE} names {asked!r}, which is not there" if asked else "no C++ compiler on PATH"
    raise ToolchainError(f"{cause}: {CXX_MEND}")


def find_nvcc() -> Path:
    """The CUDA compiler: CUDA_HOME, PATH, /usr/local/cuda, then the nvidia-cuda-nvcc wheel.

    Raises:
        ToolchainError: there is none.
    """
    for candidate in _nvcc_candidates():
        if candidate.is_file() and os.access(candidate, os.X_OK):
            return candidate
    raise ToolchainError(f"no nvcc found: {NVCC_MEND}")


def _nvcc_candidates() -> Iterator[Path]:
    for variable in ("CUDA_HOME", "CUDA_PATH"):
        home = os.environ.get(variable, "").strip()
        if home:
            yield Path(home) / "bin" / "nvcc"
    on_path = shutil.which("nvcc")
    if on_path:
        yield Path(on_path)
    yield Path("/usr/local/cuda/bin/nvcc")
    yield from sorted(_site_packages().glob("nvidia/*/bin/nvcc"), reverse=True)


def _site_packages() -> Path:
    return Path(sysconfig.get_paths()["platlib"])


def find_cuda_arch() -> str:
    """The architecture to compile for, such as `sm_90a` or `sm_89`.

    The device at hand decides, asked through torch when torch is loaded already and through
    nvidia-smi otherwise; without a device it is `sm_90a`, so that kernels can still be compiled.
    """
    capability = _capability_from_torch() or _capability_from_smi()
    if capability is None:
        return FALLBACK_ARCH
    major, minor = capability
    # The `a` variants open the architecture's own instructions (wgmma, TMA); they exist from 9.0 on.
    return f"sm_{major}{minor}{'a' if major >= 9 else ''}"


def _capability_from_torch() -> tuple[int, int] | None:
    torch = sys.modules.get("torch")
    # Asking an uninitialised torch would create a CUDA context here, which costs seconds and memory.
    if torch is None or not torch.cuda.is_initialized():
        return None
    major, minor = torch.cuda.get_device_capability()
    return int(major), int(minor)


def _capability_from_smi() -> tuple[int, int] | None:
    smi = shutil.which("nvidia-smi")
    try:
        return _ask_smi(smi) if smi else None
    except (OSError, subprocess.TimeoutExpired, LookupError):
        return None


@functools.cache
def _ask_smi(smi: str) -> tuple[int, int]:
    """What a working nvidia-smi says, which takes it half a second: the device stays the same."""
    query = [smi, "--query-gpu=compute_cap", "--format=csv,noheader"]
    answer = subprocess.run(query, capture_output=True, text=True, timeout=NVCC_QUERY_S, check=False)
    match = re.match(r"\s*(\d+)\.(\d+)", answer.stdout)
    if match is None:
        raise LookupError(f"{smi} names no compute capability")
    return int(match[1]), int(match[2])


def find_include_dirs() -> tuple[Path, ...]:
    """The folders every kernel may include from: our light header, then TVM-FFI's headers.

    Raises:
        ToolchainError: apache-tvm-ffi is not installed.
    """
    return SKILL / "include", _find_tvm_ffi() / "include"


def find_torch_include_dirs() -> tuple[Path, ...]:
    """Our shorter `torch/extension.h` and the binding, then torch's headers.

    Raises:
        ToolchainError: torch's headers are not there.
    """
    headers = _find_torch() / "include"
    return TORCH_INCLUDE, headers, headers / "torch" / "csrc" / "api" / "include"


def find_torch_libraries() -> tuple[Path, ...]:
    """Torch's shared libraries that hold tensors, as far as this torch has them.

    Raises:
        ToolchainError: torch is not installed.
    """
    folder = _find_torch() / "lib"
    return tuple(path for name in TORCH_LIBRARIES if (path := folder / f"lib{name}.so").is_file())


def _find_torch() -> Path:
    spec = importlib.util.find_spec("torch")
    if spec is None or spec.origin is None or not (Path(spec.origin).parent / "include").is_dir():
        raise ToolchainError("torch's headers are missing: install torch into this Python environment")
    return Path(spec.origin).parent


def _find_tvm_ffi() -> Path:
    spec = importlib.util.find_spec("tvm_ffi")
    if spec is None or spec.origin is None:
        raise ToolchainError(f"TVM-FFI's headers are missing: {TVM_FFI_MEND}")
    return Path(spec.origin).parent


def find_cuda_home(nvcc: Path) -> Path:
    """The toolkit that an nvcc belongs to, links and wrapper scripts seen through.

    Raises:
        ToolchainError: no folder with `include/cuda_runtime.h` can be told from it.
    """
    for home in (nvcc.parent.parent, nvcc.resolve().parent.parent, Path("/usr/local/cuda")):
        if any((home / where / "cuda_runtime.h").is_file() for where in CUDA_INCLUDES):
            return home
    raise ToolchainError(f"the CUDA headers that belong to {nvcc} are missing: {NVCC_MEND}")


CUDA_INCLUDES = ("include", "targets/x86_64-linux/include", "targets/sbsa-linux/include")


def find_cuda_include_dirs(nvcc: Path) -> tuple[Path, ...]:
    """The folders with cuda_runtime.h, cublas_v2.h and cudnn.h, as far as they are there."""
    home = find_cuda_home(nvcc)
    toolkit = [home / where for where in CUDA_INCLUDES]
    wheels = sorted(_site_packages().glob("nvidia/*/include"))
    # Seen through links, and each once: `targets/.../include` is usually a link to `include`.
    return tuple(dict.fromkeys(folder.resolve() for folder in (*toolkit, *wheels) if folder.is_dir()))


def find_cuda_library(name: str, nvcc: Path) -> Path:
    """A shared CUDA library by its short name, such as `cublas`.

    The one that torch brings comes first, because that one is loaded where the kernels will run.

    Raises:
        ToolchainError: it is not there.
    """
    home = find_cuda_home(nvcc)
    folders = [
        *sorted(_site_packages().glob("nvidia/*/lib")),
        home / "lib64",
        home / "targets/x86_64-linux/lib",
        home / "lib64/stubs",
        Path("/usr/lib/x86_64-linux-gnu"),
        Path("/usr/lib64"),
    ]
    for folder in folders:
        found = sorted(folder.glob(f"lib{name}.so*"))
        if found:
            return found[0]
    raise ToolchainError(f"lib{name}.so is missing: install it with the CUDA toolkit, or as torch's wheel")

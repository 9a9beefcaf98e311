"""The command lines that turn sources into one shared library.

Flags are chosen so that numbers do not change silently: no fast-math. A kernel that wants an
approximation writes it. The library is linked to the host's C, C++ and OpenMP runtimes, and to cuBLAS
or cuDNN when a source includes their headers. TVM-FFI and the CUDA runtime stay undefined: the process
that loads the library has them already, and a second copy would have its own state.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from cuda_agent.environment.toolchain import (
    find_cuda_arch,
    find_cuda_home,
    find_cuda_include_dirs,
    find_cuda_library,
    find_cxx,
    find_include_dirs,
    find_nvcc,
    find_torch_include_dirs,
    find_torch_libraries,
)
from cuda_agent.tasks.target import Target

SOURCE_SUFFIXES = {Target.CPU: (".cpp",), Target.CUDA: (".cpp", ".cu")}
"""What is compiled, by target; the other kernel files are headers."""

CXX_FLAGS = (
    "-O3",
    "-march=native",
    "-fopenmp",
    "-fno-math-errno",  # sqrt and its like become instructions; no value changes
    "-fno-trapping-math",  # lets comparisons be vectorised; no value changes
    "-fPIC",
    "-fvisibility=hidden",
    "-fmax-errors=8",
    "-fdiagnostics-color=never",
    "-ftemplate-backtrace-limit=4",
)
NVCC_FLAGS = (
    "-O3",
    "--expt-relaxed-constexpr",
    "--expt-extended-lambda",
    "-Xcompiler=-fPIC,-fvisibility=hidden,-fopenmp,-fdiagnostics-color=never",
)
TORCH_STANDARD = "c++20"
"""What torch's headers are written in."""
MACROS = {
    Target.CPU: ("-DCUDA_AGENT_TARGET_CPU",),
    # cub's profiling marks would load a tool at run time.
    Target.CUDA: ("-DCUDA_AGENT_TARGET_CUDA", "-DCCCL_DISABLE_NVTX", "-DNVTX_DISABLE"),
}

# Only exported functions leave the library: nothing in it can stand in for another library's function.
VERSION_SCRIPT = "{ global: __tvm_ffi_*; local: *; };\n"
LINK_FLAGS = ("-shared", "-fopenmp", "-Wl,--hash-style=sysv", "-Wl,-z,noexecstack", "-Wl,-z,relro,-z,now")

LIBRARY_OF_HEADER = {"cublas": "cublas", "cublasLt": "cublasLt", "cudnn": "cudnn", "cuda.h": "cuda"}
"""Which library a header's name asks for, by the longest fitting start."""

INCLUDED_NAME = re.compile(rb'^[ \t]*#[ \t]*include[ \t]*[<"]([^">\n]+)[">]', re.MULTILINE)


@dataclass(frozen=True)
class Compilers:
    """Everything needed to build for one target on this machine."""

    target: Target
    """What is built for."""
    cxx: Path
    """The host compiler, which also links."""
    nvcc: Path | None
    """The CUDA compiler; None on cpu."""
    arch: str
    """The CUDA architecture, such as `sm_90a`; empty on cpu."""
    include_dirs: tuple[Path, ...]
    """Folders of the binding headers."""
    system_dirs: tuple[Path, ...]
    """Folders of CUDA's headers."""
    standard: str = "c++17"
    """The language's version."""
    torch_libraries: tuple[Path, ...] = ()
    """What kernels that are bound with torch's headers are linked to; empty for others."""

    @property
    def folders(self) -> tuple[Path, ...]:
        """Folders that the compilers must be able to read."""
        toolkit = (find_cuda_home(self.nvcc), self.nvcc.parent) if self.nvcc else ()
        libraries = (library.parent for library in self.torch_libraries)
        folders = (*self.include_dirs, *self.system_dirs, *toolkit, *libraries)
        return tuple(dict.fromkeys(folder.resolve() for folder in folders))

    def compile_command(self, source: str, output: str) -> list[str]:
        """Compile one source into an object file; paths are relative to the build's folder."""
        includes = [f"-I{folder}" for folder in self.include_dirs]
        systems = [part for folder in self.system_dirs for part in ("-isystem", str(folder))]
        tail = [*MACROS[self.target], *includes, *systems, "-c", source, "-o", output]
        standard = f"-std={self.standard}"
        if not source.endswith(".cu"):
            return [str(self.cxx), standard, *CXX_FLAGS, *tail]
        number = self.arch.removeprefix("sm_")
        code = f"-gencode=arch=compute_{number},code=sm_{number}"
        return [str(self.nvcc), f"-ccbin={self.cxx}", standard, *NVCC_FLAGS, code, *tail]

    def link_command(self, objects: Iterable[str], output: str, *, libraries: Iterable[Path]) -> list[str]:
        """Link object files into one library that exports its kernels and nothing else."""
        script = "-Wl,--version-script=exports.map"
        linked = [*map(str, libraries), *map(str, self.torch_libraries)]
        return [str(self.cxx), *LINK_FLAGS, script, *objects, *linked, "-o", output]

    def find_libraries(self, sources: Iterable[bytes]) -> tuple[Path, ...]:
        """The CUDA libraries whose headers the sources include.

        Raises:
            ToolchainError: one of them is not on this machine.
        """
        if self.nvcc is None:
            return ()
        headers = {match.decode("latin-1") for text in sources for match in INCLUDED_NAME.findall(text)}
        starts = sorted(LIBRARY_OF_HEADER, key=len, reverse=True)
        wanted = {
            LIBRARY_OF_HEADER[start]
            for header in headers
            for start in [next((start for start in starts if header.startswith(start)), None)]
            if start is not None
        }
        return tuple(find_cuda_library(name, self.nvcc) for name in sorted(wanted))


def find_compilers(target: Target, *, needs_torch: bool = False) -> Compilers:
    """Look up what building for `target` needs, with torch's headers and libraries where asked for.

    Raises:
        ToolchainError: something is missing.
    """
    cxx, include_dirs = find_cxx(), find_include_dirs()
    if target is Target.CPU:
        compilers = Compilers(target, cxx, None, "", include_dirs, ())
    else:
        nvcc = find_nvcc()
        systems = find_cuda_include_dirs(nvcc)
        compilers = Compilers(target, cxx, nvcc, find_cuda_arch(), include_dirs, systems)
    if not needs_torch:
        return compilers
    return replace(
        compilers,
        include_dirs=(*include_dirs, *find_torch_include_dirs()),
        standard=TORCH_STANDARD,
        torch_libraries=find_torch_libraries(),
    )

"""What experts look at beside times: `cuda-agent inspect WHAT` in a workspace.

Whatever compiles or runs the submission does so in the sandbox, like a build or a judgement. A tool that
this machine lacks is a clear answer, and no failure of the submission.
"""

import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from cuda_agent.environment.beneath import read_file_beneath
from cuda_agent.environment.build import build_submission
from cuda_agent.environment.compilers import SOURCE_SUFFIXES, Compilers, find_compilers
from cuda_agent.environment.evaluate import Setting
from cuda_agent.environment.foreign import unfold_foreign
from cuda_agent.environment.reports_cpu import summarise_counters, summarise_machine_code, summarise_vectors
from cuda_agent.environment.reports_cuda import (
    NCU_METRICS,
    NCU_STALLS,
    summarise_ncu,
    summarise_registers,
    summarise_sanitizer,
    summarise_sass,
)
from cuda_agent.environment.submission import Submission
from cuda_agent.environment.toolchain import find_cuda_home
from cuda_agent.environment.workspace import TASK_FILE
from cuda_agent.errors import ToolchainError, UserError
from cuda_agent.sandbox.protocol import Command, Completed, Limits, Mount
from cuda_agent.scratch import temporary_folder
from cuda_agent.tasks.target import Target

CALLS = 20
"""How often the submission is called while counters count."""

COUNTS = "counts.csv"
REPORT_BYTES = 8 << 20
TOOL_S = 240.0

UNCACHED = {"PYTORCH_NO_CUDA_MEMORY_CACHING": "1"}
"""Torch's allocator cuts tensors out of large blocks, within which nothing is out of bounds."""

NSIGHT = Path("/opt/nvidia")
"""Where packages of Nsight Compute put it; the toolkit's `ncu` only leads there."""


class Inspection(StrEnum):
    """What can be looked at."""

    VECTORS = "vectors"
    """Which loops the compiler vectorised (cpu)."""
    ASSEMBLY = "assembly"
    """The machine code, and what it consists of."""
    COUNTERS = "counters"
    """What the processor counted (cpu)."""
    REGISTERS = "registers"
    """Registers, spills, shared memory (cuda)."""
    MEMORY = "memory"
    """Accesses out of bounds, by compute-sanitizer (cuda)."""
    KERNELS = "kernels"
    """Bytes, throughput, occupancy, stalls, by Nsight Compute (cuda)."""


@dataclass(frozen=True)
class Inspected:
    """What was seen."""

    summary: str
    """The lines that matter; they may hold the submission's own words."""
    report: str
    """All that the tool printed."""


class Bench:
    """One submission laid out in a folder of its own, and how commands are run there."""

    def __init__(self, folder: Path, submission: Submission, *, setting: Setting) -> None:
        """Lay the submission and the reference into an empty folder."""
        self.folder = folder
        """Where it lies; the same path inside the sandbox."""
        self.submission = unfold_foreign(submission)
        """What lies there, in our own form."""
        self.setting = setting
        """What it is for."""
        self.compilers: Compilers = find_compilers(setting.target, needs_torch=self.submission.needs_torch)
        """What builds it."""
        self.submission.write_to(folder)
        (folder / TASK_FILE).write_text(setting.task.source, encoding="utf-8")

    def run(
        self,
        argv: Sequence[str],
        *,
        gpu: bool = False,
        tools: Sequence[Path] = (),
        env: Mapping[str, str] | None = None,
    ) -> Completed:
        """Run a command in the sandbox, in the folder."""
        seen = dict.fromkeys([*self.compilers.folders, *(tool.resolve().parent for tool in tools)])
        mounts = [Mount(path=self.folder, writable=True), *(Mount(path=path) for path in seen)]
        limits = Limits(wall_s=TOOL_S, output_bytes=REPORT_BYTES)
        command = Command(argv=argv, cwd=self.folder, mounts=mounts, env=env or {}, limits=limits, gpu=gpu)
        return self.setting.sandbox.run(command)

    def list_sources(self) -> list[str]:
        """The kernel files that are compiled, by path."""
        suffixes = SOURCE_SUFFIXES[self.setting.target]
        return [path for path in self.submission.files if path.endswith(suffixes)]

    def build_library(self) -> str:
        """The library's name, built into the folder."""
        build = self.setting.cache.build if self.setting.cache else build_submission
        _, library = build(
            self.submission,
            target=self.setting.target,
            sandbox=self.setting.sandbox,
            folder=self.folder,
            check_library=True,
        )
        if library is None:
            raise UserError("the kernels do not build: see cuda-agent build")
        return library.name

    def list_driver(self, library: str, *, calls: int) -> list[str]:
        """The command that calls the submission."""
        module = "cuda_agent.environment.drive"
        place = str(self.folder / library)
        return [sys.executable, "-m", module, str(self.folder), place, str(calls), self.setting.target.value]


def inspect(what: Inspection, submission: Submission, *, setting: Setting) -> Inspected:
    """Look at a submission that builds.

    Raises:
        UserError: this is not for the target, the tool is missing or failed; the message says what to do.
    """
    ways = WAYS[setting.target]
    if what not in ways:
        raise UserError(f"{what.value} is not for {setting.target.value}; there are: {', '.join(ways)}")
    with temporary_folder("inspect-") as temporary:
        temporary.chmod(0o711)
        folder = temporary.resolve() / "bench"
        return ways[what](Bench(folder, submission, setting=setting))


def _inspect_vectors(bench: Bench) -> Inspected:
    ends = []
    for source in bench.list_sources():
        command = bench.compilers.compile_command(source, "/dev/null")
        ends.append(bench.run([*command, "-fopt-info-vec-all"]))
    text = "".join(end.stderr for end in ends)
    if "clang" in bench.compilers.cxx.name or "unknown argument" in text:
        raise UserError("only g++ has this report: name it in CUDA_AGENT_CXX")
    return Inspected(summarise_vectors(text), text)


def _inspect_machine_code(bench: Bench) -> Inspected:
    tool = _find_tool("objdump", "install binutils")
    library = bench.build_library()
    end = bench.run([str(tool), "-d", "-C", "--no-show-raw-insn", "-j", ".text", library])
    return Inspected(summarise_machine_code(_check(end, "objdump")), end.stdout)


def _inspect_counters(bench: Bench) -> Inspected:
    tool = _find_tool("perf", "install linux-perf, or linux-tools of this kernel")
    library = bench.build_library()
    events = "task-clock,page-faults,cycles,instructions,cache-references,cache-misses,branch-misses"
    counts = []
    # What importing torch and making inputs counts goes away in the difference.
    for calls in (0, CALLS):
        driver = bench.list_driver(library, calls=calls)
        end = bench.run([str(tool), "stat", "-x,", "-e", events, "-o", COUNTS, *driver], tools=[tool])
        _check(end, "perf")
        counts.append(
            read_file_beneath(bench.folder, COUNTS, limit_bytes=REPORT_BYTES).decode("utf-8", "replace")
        )
    return Inspected(summarise_counters(_subtract(*counts), calls=CALLS), "\n".join(counts))


def _subtract(without: str, text: str) -> str:
    """The counts of the second less those of the first."""
    before = {fields[2]: fields[0] for line in without.splitlines() if len(fields := line.split(",")) > 2}
    lines = []
    for line in text.splitlines():
        value, *rest = line.split(",")
        with suppress(ValueError, IndexError):
            value = str(max(0.0, float(value) - float(before.get(rest[1], ""))))
        lines.append(",".join([value, *rest]))
    return "\n".join(lines)


def _inspect_registers(bench: Bench) -> Inspected:
    texts = []
    for source in bench.list_sources():
        if source.endswith(".cu"):
            end = bench.run([*bench.compilers.compile_command(source, "/dev/null"), "-Xptxas=-v"])
            texts.append(_check(end, "nvcc") + end.stderr)
    text = "".join(texts)
    return Inspected(summarise_registers(text), text)


def _inspect_sass(bench: Bench) -> Inspected:
    tool = _find_cuda_tool(
        "cuobjdump", bench, mend="install the CUDA toolkit, or the wheel nvidia-cuda-cuobjdump"
    )
    end = bench.run([str(tool), "-sass", bench.build_library()], tools=[tool])
    return Inspected(summarise_sass(_check(end, "cuobjdump")), end.stdout)


def _inspect_memory(bench: Bench) -> Inspected:
    tool = _find_cuda_tool("compute-sanitizer", bench, mend="install it with the CUDA toolkit")
    driver = bench.list_driver(bench.build_library(), calls=0)
    end = bench.run([str(tool), "--tool", "memcheck", *driver], gpu=True, tools=[tool], env=UNCACHED)
    report = end.stdout + end.stderr
    return Inspected(summarise_sanitizer(report, returncode=end.returncode), report)


def _inspect_kernels(bench: Bench) -> Inspected:
    tool = _find_cuda_tool("ncu", bench, mend="install Nsight Compute with the CUDA toolkit")
    driver = bench.list_driver(bench.build_library(), calls=1)
    metrics = ",".join([*NCU_METRICS, *NCU_STALLS])
    options = ["--csv", "--page", "raw", "--profile-from-start", "off", "--metrics", metrics]
    installed = [NSIGHT / "nsight-compute"] if NSIGHT.is_dir() else []
    end = bench.run([str(tool), *options, *driver], gpu=True, tools=[tool, *installed])
    return Inspected(summarise_ncu(end.stdout), end.stdout + end.stderr)


def _find_tool(name: str, mend: str) -> Path:
    found = shutil.which(name)
    if found is None:
        raise ToolchainError(f"{name} is not on this machine: {mend}")
    return Path(found)


def _find_cuda_tool(name: str, bench: Bench, *, mend: str) -> Path:
    nvcc = bench.compilers.nvcc
    beside = [] if nvcc is None else [nvcc.parent / name, find_cuda_home(nvcc) / "bin" / name]
    found = next((path for path in beside if path.is_file()), None)
    return found or _find_tool(name, mend)


def _check(end: Completed, name: str) -> str:
    """What a tool printed.

    Raises:
        UserError: it failed, or did not end in time.
    """
    if end.timed_out:
        raise UserError(f"{name} did not come to its end in {TOOL_S:g} s")
    if end.returncode != 0:
        raise UserError(f"{name} failed: {(end.stderr or end.stdout).strip()[-600:]}")
    return end.stdout


WAYS: dict[Target, dict[Inspection, Callable[[Bench], Inspected]]] = {
    Target.CPU: {
        Inspection.VECTORS: _inspect_vectors,
        Inspection.ASSEMBLY: _inspect_machine_code,
        Inspection.COUNTERS: _inspect_counters,
    },
    Target.CUDA: {
        Inspection.REGISTERS: _inspect_registers,
        Inspection.ASSEMBLY: _inspect_sass,
        Inspection.MEMORY: _inspect_memory,
        Inspection.KERNELS: _inspect_kernels,
    },
}
"""How each thing is looked at, by target."""

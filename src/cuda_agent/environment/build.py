"""From a submission's sources to one shared library.

Compiling is running untrusted input through large programs, so every compiler runs in the sandbox,
and the library that comes out is read as data: it is never loaded here.
"""

import errno
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from cuda_agent.environment.beneath import read_file_beneath
from cuda_agent.environment.compilers import SOURCE_SUFFIXES, VERSION_SCRIPT, Compilers, find_compilers
from cuda_agent.environment.diagnose import classify_failure, find_first_error
from cuda_agent.environment.elf import MAX_LIBRARY_BYTES
from cuda_agent.environment.instructions import check_instructions
from cuda_agent.environment.result import BuildResult, BuildStatus
from cuda_agent.environment.submission import Submission
from cuda_agent.environment.symbols import check_symbols, list_functions
from cuda_agent.errors import InfrastructureError
from cuda_agent.sandbox.protocol import Command, Completed, Limits, Mount, Sandbox
from cuda_agent.scratch import temporary_folder
from cuda_agent.tasks.target import Target
from cuda_agent.workers.cores import count_jobs

LIBRARY = "kernels.so"
MAX_JOBS = 8
MIB = 1 << 20
MAX_OBJECT_BYTES = 256 * MIB
COMPILER_MEMORY_BYTES = {Target.CPU: 4 << 30, Target.CUDA: 12 << 30}

REASONS = {
    BuildStatus.COMPILE_ERROR: "{unit} does not compile",
    BuildStatus.MISSING_HEADER: "{unit} includes a file that is not there",
    BuildStatus.LINK_ERROR: "the objects do not link: a function is defined twice, or a file is damaged",
    BuildStatus.OUT_OF_MEMORY: "the compiler ran out of memory on {unit}: use fewer and shallower templates",
    BuildStatus.TIMED_OUT: "the compiler did not finish {unit} in {limit_s:.0f} s: use fewer templates",
    BuildStatus.DISK_FULL: "no room for the object of {unit}: large arrays belong in tensors",
}


@dataclass(frozen=True)
class _Workshop:
    """One build in one temporary folder."""

    folder: Path
    sources: Mapping[str, bytes]
    compilers: Compilers
    sandbox: Sandbox
    deadline_s: float
    """On the monotonic clock."""
    check_library: bool
    """Whether to look at what the library needs."""

    def run(self, argv: Sequence[str]) -> Completed:
        """Run one compiler in the sandbox, in the build's folder."""
        mounts = [Mount(path=self.folder, writable=True), *(Mount(path=p) for p in self.compilers.folders)]
        limits = Limits(
            wall_s=max(0.1, self.deadline_s - time.monotonic()),
            memory_bytes=COMPILER_MEMORY_BYTES[self.compilers.target],
            file_bytes=MAX_OBJECT_BYTES,
        )
        return self.sandbox.run(Command(argv=argv, cwd=self.folder, mounts=mounts, limits=limits))

    def compile(self, units: Sequence[str]) -> list[Completed]:
        """Compile the units side by side; the results are in the units' order."""
        jobs = count_jobs(min(len(units), MAX_JOBS))
        with ThreadPoolExecutor(jobs) as pool:
            return list(
                pool.map(lambda unit: self.run(self.compilers.compile_command(unit, f"{unit}.o")), units)
            )


def build_submission(
    submission: Submission,
    *,
    target: Target,
    sandbox: Sandbox,
    folder: Path,
    timeout_s: float = 120.0,
    check_library: bool = True,
) -> tuple[BuildResult, Path | None]:
    """Build the kernels into `folder/kernels.so`, and check what the library needs.

    Returns the result, and the library's path exactly when the result's status is OK. Whatever else
    the build made is gone afterwards. `check_library` is off only to measure what the check is worth.

    Raises:
        ToolchainError: this machine lacks a compiler or a library.
        InfrastructureError: there is no room to build.
    """
    started = time.monotonic()
    units = [path for path in submission.files if path.endswith(SOURCE_SUFFIXES[target])]
    if not units:
        return _refuse_nothing(target), None
    compilers = find_compilers(target, needs_torch=submission.needs_torch)
    libraries = compilers.find_libraries(submission.files[unit] for unit in submission.files)
    with _room_to_build(units) as lacks_room, temporary_folder("build-") as temporary:
        workshop = _Workshop(
            folder=_lay_build(submission, temporary),
            sources=submission.files,
            compilers=compilers,
            sandbox=sandbox,
            deadline_s=started + timeout_s,
            check_library=check_library,
        )
        result, library = _build(workshop, units, libraries=libraries, folder=folder)
        if result.status is BuildStatus.DISK_FULL and lacks_room():
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    return result.model_copy(update={"duration_s": time.monotonic() - started}), library


@contextmanager
def _room_to_build(units: Sequence[str]) -> Iterator[Callable[[], bool]]:
    """Give a way to ask whether what a build may write has, or had, no room: this machine's fault."""
    folder, needed = tempfile.gettempdir(), (len(units) + 1) * MAX_OBJECT_BYTES
    free = shutil.disk_usage(folder).free
    try:
        yield lambda: min(free, shutil.disk_usage(folder).free) < needed
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        raise InfrastructureError(
            f"no room to build in {folder}: {free / MIB:.1f} MiB were free, and this build may take "
            f"{needed // MIB} MiB; make room there, or let TMPDIR name another folder"
        ) from error


def _refuse_nothing(target: Target) -> BuildResult:
    wanted = " or ".join(f"kernels/*{suffix}" for suffix in SOURCE_SUFFIXES[target])
    return BuildResult(status=BuildStatus.NO_KERNELS, reason=f"there is no {wanted} to build: write one")


def _lay_build(submission: Submission, temporary: Path) -> Path:
    """Write the sources into a folder that compilers can reach as another user."""
    place = temporary / "build"
    submission.write_to(place)
    (place / "exports.map").write_text(VERSION_SCRIPT)
    temporary.chmod(0o711)
    return place


def _build(
    workshop: _Workshop, units: Sequence[str], *, libraries: Sequence[Path], folder: Path
) -> tuple[BuildResult, Path | None]:
    ends = workshop.compile(units)
    log = "".join(end.stdout + end.stderr for end in ends)
    for unit, end in zip(units, ends, strict=True):
        if end.returncode != 0:
            result = _explain(unit, end, otherwise=BuildStatus.COMPILE_ERROR, sources=workshop.sources)
            return result.model_copy(update={"log": log}), None
    objects = [f"{unit}.o" for unit in units]
    end = workshop.run(workshop.compilers.link_command(objects, LIBRARY, libraries=libraries))
    log += end.stdout + end.stderr
    if end.returncode != 0:
        result = _explain(LIBRARY, end, otherwise=BuildStatus.LINK_ERROR, sources=workshop.sources)
        return result.model_copy(update={"log": log}), None
    library = folder / LIBRARY
    folder.mkdir(parents=True, exist_ok=True)
    library.write_bytes(read_file_beneath(workshop.folder, LIBRARY, limit_bytes=MAX_LIBRARY_BYTES))
    result = _inspect(workshop, library).model_copy(update={"log": log})
    if result.status is not BuildStatus.OK:
        library.unlink()
        return result, None
    return result, library


def _inspect(workshop: _Workshop, library: Path) -> BuildResult:
    violations = (
        *check_symbols(
            library,
            workshop.compilers.target,
            needs_torch=bool(workshop.compilers.torch_libraries),
        ),
        *check_instructions(LIBRARY, run=workshop.run),
    )
    if violations and workshop.check_library:
        reason = f"the library needs {violations[0].reason}"
        return BuildResult(status=BuildStatus.FORBIDDEN_SYMBOL, reason=reason, violations=violations)
    functions = list_functions(library)
    if not functions:
        reason = "the library exports no function: add EXPORT_KERNEL(name, function);"
        return BuildResult(status=BuildStatus.NO_KERNELS, reason=reason)
    return BuildResult(status=BuildStatus.OK, functions=functions)


def _explain(
    unit: str, end: Completed, *, otherwise: BuildStatus, sources: Mapping[str, bytes]
) -> BuildResult:
    status = classify_failure(end, otherwise)
    lines = "" if status is BuildStatus.TIMED_OUT else find_first_error(end.stderr + end.stdout, sources)
    return _fail(status, unit, limit_s=end.duration_s).model_copy(update={"error_lines": lines})


def _fail(status: BuildStatus, unit: str, *, limit_s: float) -> BuildResult:
    return BuildResult(status=status, reason=REASONS[status].format(unit=unit, limit_s=limit_s))

"""What was built once is not built again: results and libraries by the content that they come from.

An entry is a folder named by a digest over everything that a build depends on: the kernels' sources, the
compilers, their flags and headers, this processor, and the checks on what comes out. It is written aside
and renamed into place, so that a build that is killed half-way leaves no entry, and two that build the same
at once do not meet; there is no lock that could go stale. The library's own digest is kept beside it: an
entry that does not fit it is removed and built anew. The entries longest unused go when there are too many
bytes (eviction.py).
"""

import hashlib
import subprocess
import time
from contextlib import suppress
from functools import cache
from pathlib import Path

from pydantic import ValidationError

from cuda_agent.atomic import write_aside
from cuda_agent.config import Record, find_cache
from cuda_agent.environment.build import LIBRARY, build_submission
from cuda_agent.environment.compilers import Compilers, find_compilers
from cuda_agent.environment.result import BuildResult, BuildStatus
from cuda_agent.environment.submission import MODEL_FILE, Submission
from cuda_agent.eviction import make_room, touch_entry
from cuda_agent.sandbox.protocol import Sandbox
from cuda_agent.scratch import remove_tree
from cuda_agent.tasks.target import Target

ENTRY = "entry.json"
LASTING = (
    BuildStatus.OK,
    BuildStatus.NO_KERNELS,
    BuildStatus.COMPILE_ERROR,
    BuildStatus.MISSING_HEADER,
    BuildStatus.LINK_ERROR,
    BuildStatus.FORBIDDEN_SYMBOL,
)
"""How a build ends that would end so again; memory, time and room may be there the next time."""
LIMIT_BYTES = 4 << 30


class Entry(Record):
    """One build that was kept."""

    result: BuildResult
    """What the build gave."""
    sha256: str
    """SHA-256 of the library; empty where none was built."""


class BuildCache:
    """Builds kept in a folder that any number of processes may use at once."""

    def __init__(self, folder: Path, *, limit_bytes: int = LIMIT_BYTES) -> None:
        """Keep builds in `folder`, up to about `limit_bytes`."""
        self._folder = folder
        self._limit_bytes = limit_bytes

    def build(
        self, submission: Submission, *, target: Target, sandbox: Sandbox, folder: Path, check_library: bool
    ) -> tuple[BuildResult, Path | None]:
        """As `build_submission`; from the cache, in the time that it took to look there, if it is kept."""
        started = time.monotonic()
        compilers = find_compilers(target, needs_torch=submission.needs_torch)
        key = compute_key(submission, compilers, check_library=check_library)
        found = self._find(key, folder)
        if found is not None:
            result, library = found
            return result.model_copy(update={"duration_s": time.monotonic() - started}), library
        result, library = build_submission(
            submission, target=target, sandbox=sandbox, folder=folder, check_library=check_library
        )
        if result.status in LASTING:
            with suppress(OSError):  # a full or read-only disk costs time, and nothing else
                self._keep(key, result, library=library)
        return result, library

    def _find(self, key: str, folder: Path) -> tuple[BuildResult, Path | None] | None:
        place = self._folder / key
        try:
            entry = Entry.model_validate_json((place / ENTRY).read_bytes())
            content = (place / LIBRARY).read_bytes() if entry.sha256 else b""
            touch_entry(place)
        except FileNotFoundError:
            return None
        except (OSError, ValidationError):
            remove_tree(place)
            return None
        if not entry.sha256:
            return entry.result, None
        if hashlib.sha256(content).hexdigest() != entry.sha256:
            remove_tree(place)
            return None
        folder.mkdir(parents=True, exist_ok=True)
        (folder / LIBRARY).write_bytes(content)
        return entry.result, folder / LIBRARY

    def _keep(self, key: str, result: BuildResult, *, library: Path | None) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        content = library.read_bytes() if library else b""
        # Refused where another process was first.
        with suppress(OSError), write_aside(self._folder / key) as aside:
            aside.mkdir(mode=0o700)
            if library:
                (aside / LIBRARY).write_bytes(content)
            sha = hashlib.sha256(content).hexdigest() if library else ""
            (aside / ENTRY).write_text(Entry(result=result, sha256=sha).model_dump_json())
        make_room(self._folder, added_bytes=len(content), limit_bytes=self._limit_bytes)


def find_build_cache() -> BuildCache:
    """This user's cache of builds."""
    return BuildCache(find_cache("build"))


def compute_key(submission: Submission, compilers: Compilers, *, check_library: bool) -> str:
    """A digest over everything that a build's outcome depends on."""
    digest = hashlib.sha256(_describe_surroundings(compilers).encode())
    digest.update(b"checked" if check_library else b"unchecked")
    for path, content in submission.files.items():
        if path != MODEL_FILE:
            digest.update(f"{len(path)} {len(content)} ".encode() + path.encode() + content)
    return digest.hexdigest()


@cache
def _describe_surroundings(compilers: Compilers) -> str:
    sources = ["x.cpp", "x.cu"] if compilers.nvcc else ["x.cpp"]
    parts = [repr(compilers.compile_command(source, "o")) for source in sources]
    parts.append(repr(compilers.link_command(["o"], LIBRARY, libraries=())))
    for program in (compilers.cxx, compilers.nvcc):
        if program is not None:
            shown = subprocess.run([program, "--version"], capture_output=True, check=False, timeout=60)
            parts.append(hashlib.sha256(shown.stdout).hexdigest())
    parts += [_digest_folder(folder) for folder in (*compilers.include_dirs, Path(__file__).parent)]
    parts += [line for line in _read_cpu().splitlines() if line.startswith(("flags", "model name"))][:2]
    return "\n".join(parts)


def _digest_folder(folder: Path) -> str:
    """Over the contents of the headers, tables and programs below a folder."""
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.suffix != ".pyc":
            digest.update(f"{path.relative_to(folder)} ".encode() + path.read_bytes())
    return digest.hexdigest()


def _read_cpu() -> str:
    with suppress(OSError):
        return Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    return ""

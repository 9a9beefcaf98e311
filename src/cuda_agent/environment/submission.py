"""The files that may be handed in, frozen and hashed.

Only `model_new.py` and the sources in `kernels/` count. Anything else in the folder (the agent's
scripts, objects, notes) is left out and listed in `ignored`, in a workspace and in a hand-made folder
alike: it cannot reach the judge, so it need not be refused. What stands under a name that counts but
cannot be taken (a link, a giant) is kept as a problem, which the rules stage reports.
"""

import hashlib
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from cuda_agent.environment.beneath import NotBeneathError, open_folder_beneath, read_file_in
from cuda_agent.environment.result import Violation
from cuda_agent.errors import UserError
from cuda_agent.printable import make_printable

MODEL_FILE = "model_new.py"
KERNELS_FOLDER = "kernels"
KERNEL_SUFFIXES = (".cu", ".cpp", ".cuh", ".h", ".hpp")

MAX_FILES = 64
MAX_FILE_BYTES = 1 << 20
MAX_TOTAL_BYTES = 4 << 20
MAX_ENTRIES_READ = 4096

KERNEL_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]{0,99}")


@dataclass(frozen=True)
class Submission:
    """What an agent hands in, however it came here: no other name than those that count can be in it."""

    files: Mapping[str, bytes]
    """Contents by path, sorted by path: `model_new.py` and `kernels/<name>`."""
    problems: tuple[Violation, ...] = ()
    """Files under names that count, which could not be taken."""
    ignored: tuple[str, ...] = ()
    """Names in the folder that do not count."""

    def __post_init__(self) -> None:
        """Sort the files and make the mapping unchangeable.

        Raises:
            ValueError: a path is none that counts (it may come from a message, and is written to), or the
                files are too many or too large.
        """
        for path in self.files:
            if not may_be_handed_in(path):
                raise ValueError(f"{make_printable(path)!r} is neither {MODEL_FILE} nor a kernel's source")
        sizes = [len(content) for content in self.files.values()]
        if len(sizes) > MAX_FILES or max(sizes, default=0) > MAX_FILE_BYTES or sum(sizes) > MAX_TOTAL_BYTES:
            raise ValueError(
                f"more than {MAX_FILES} files, {MAX_FILE_BYTES} bytes in one, or {MAX_TOTAL_BYTES}"
            )
        ordered = {path: bytes(self.files[path]) for path in sorted(self.files)}
        object.__setattr__(self, "files", MappingProxyType(ordered))

    @property
    def sha(self) -> str:
        """The first 16 hex digits of the SHA-256 over paths, contents and problems."""
        digest = hashlib.sha256()
        for path, content in self.files.items():
            digest.update(f"{len(path)} {len(content)} ".encode() + path.encode() + content)
        for problem in self.problems:
            digest.update(problem.model_dump_json().encode())
        return digest.hexdigest()[:16]

    def write_to(self, folder: Path) -> None:
        """Write the files into a folder, which is made if it is not there."""
        (folder / KERNELS_FOLDER).mkdir(parents=True, exist_ok=True)
        for path, content in self.files.items():
            (folder / path).write_bytes(content)


def may_be_handed_in(path: str) -> bool:
    """Whether a file of this name counts: `model_new.py`, or a source in `kernels/`."""
    folder, _, name = path.partition("/")
    is_kernel = folder == KERNELS_FOLDER and KERNEL_NAME.fullmatch(name) and name.endswith(KERNEL_SUFFIXES)
    return path == MODEL_FILE or bool(is_kernel)


def freeze_submission(folder: Path) -> Submission:
    """Take what may be handed in out of a folder that untrusted commands may still write to.

    A Python file may be given instead of a folder: it is taken as `model_new.py`.

    Raises:
        UserError: the folder or file itself is not there.
    """
    if folder.suffix == ".py" and folder.is_file():
        return _freeze_file(folder)
    if not folder.is_dir():
        raise UserError(
            f"{folder} is not a folder: give the folder that holds {MODEL_FILE} and {KERNELS_FOLDER}/"
        )
    taking = _Taking()
    with open_folder_beneath(folder, ()) as root:
        names = _list_names(root)
        if MODEL_FILE in names:
            taking.take(root, MODEL_FILE, path=MODEL_FILE)
        else:
            taking.refuse(MODEL_FILE, f"there is no {MODEL_FILE}: write it, with a class ModelNew")
        taking.ignored += [name for name in names if name not in (MODEL_FILE, KERNELS_FOLDER)]
    if KERNELS_FOLDER in names:
        _take_kernels(folder, taking)
    return Submission(taking.files, tuple(taking.problems), tuple(sorted(map(_printable, taking.ignored))))


def _freeze_file(file: Path) -> Submission:
    taking = _Taking()
    with open_folder_beneath(file.absolute().parent, ()) as folder:
        taking.take(folder, file.name, path=MODEL_FILE)
    return Submission(taking.files, tuple(taking.problems))


def _take_kernels(folder: Path, taking: "_Taking") -> None:
    try:
        with open_folder_beneath(folder, (KERNELS_FOLDER,)) as kernels:
            for name in _list_names(kernels):
                path = f"{KERNELS_FOLDER}/{name}"
                if not name.endswith(KERNEL_SUFFIXES):
                    taking.ignored.append(path)
                elif not KERNEL_NAME.fullmatch(name):
                    taking.refuse(
                        _printable(path), "the name may hold letters, digits and _ . + - only: rename it"
                    )
                else:
                    taking.take(kernels, name, path=path)
    except OSError as error:
        taking.refuse(KERNELS_FOLDER, f"{KERNELS_FOLDER} must be a plain folder ({error}): make it one")


def _list_names(folder: int) -> list[str]:
    names = []
    with os.scandir(folder) as entries:
        for entry in entries:
            names.append(entry.name)
            if len(names) == MAX_ENTRIES_READ:
                break
    return sorted(names)


def _printable(name: str) -> str:
    return make_printable(name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace"))


class _Taking:
    """What has been taken so far, within the limits."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.problems: list[Violation] = []
        self.ignored: list[str] = []

    def refuse(self, path: str, reason: str) -> None:
        """Note why the file at `path` cannot be taken."""
        self.problems.append(Violation(file=path, line=0, rule="files", reason=reason))

    def take(self, folder: int, name: str, *, path: str) -> None:
        """Read one file, unless a limit or its kind forbids."""
        if len(self.files) == MAX_FILES:
            self.refuse(path, f"more than {MAX_FILES} files: merge some")
            return
        left = MAX_TOTAL_BYTES - sum(map(len, self.files.values()))
        try:
            self.files[path] = read_file_in(folder, name, limit_bytes=min(MAX_FILE_BYTES, left))
        except OverflowError:
            reason = f"a file may have {MAX_FILE_BYTES >> 20} MiB, all together {MAX_TOTAL_BYTES >> 20} MiB"
            self.refuse(path, f"too large: {reason}; data belongs in tensors")
        except NotBeneathError as error:
            self.refuse(path, f"{error}: put a regular file there")
        except OSError as error:
            self.refuse(path, f"it cannot be read ({error.strerror}): make it a readable regular file")

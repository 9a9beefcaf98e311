"""A run's folder: everything a run was asked, did and found, safe against being killed at any moment."""

import datetime
import fcntl
import json
import os
import secrets
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Self, TypeVar

from pydantic import ValidationError

from cuda_agent.atomic import write_whole
from cuda_agent.closing import Closing
from cuda_agent.config import Config, Record
from cuda_agent.errors import ConfigError, InfrastructureError, UserError

CONFIG_NAME = "config.json"
LOCK_NAME = "lock"

RecordT = TypeVar("RecordT", bound=Record)


def build_default_path(verb: str, parent: Path = Path("runs")) -> Path:
    """A fresh folder name: `runs/<date>-<verb>-<6 hex digits>`."""
    today = datetime.datetime.now().astimezone().date()
    return parent / f"{today.isoformat()}-{verb}-{secrets.token_hex(3)}"


class RunDir(Closing):
    """One run's folder, locked while open.

    `config.json` holds the configuration and its digest, `*.jsonl` one record a line, everything else
    is files written whole or not at all. One process at a time: the lock is the kernel's, so a dead
    process's lock is gone with it.
    """

    def __init__(self, path: Path, lock: int) -> None:
        """Use `create` or `resume`."""
        self.path = path
        """Absolute path of the folder."""
        self._lock = lock
        # A file's lines are written one at a time, whichever thread they come from.
        self._appending: dict[str, threading.Lock] = {}

    @classmethod
    def create(cls, path: Path, config: Config) -> Self:
        """A new run in a new or empty folder.

        Raises:
            ConfigError: the folder holds a run or something else already, or cannot be made.
        """
        path = path.absolute()
        if (path / CONFIG_NAME).exists():
            raise ConfigError(
                f"{path} already holds a run; resume it with --resume {path}, or choose another folder"
            )
        if path.is_dir() and set(os.listdir(path)) - {LOCK_NAME}:
            raise ConfigError(f"{path} is not empty and is no run; choose another folder")
        try:
            path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ConfigError(f"{path} cannot be made ({error.strerror}); choose another folder") from error
        run = cls(path, _acquire_lock(path))
        saved = {"digest": config.compute_digest(), "config": config.model_dump(mode="json")}
        run.write_text(CONFIG_NAME, json.dumps(saved, indent=2) + "\n")
        return run

    @classmethod
    def resume(cls, path: Path, config: Config) -> Self:
        """An existing run, which must have been started with the same configuration.

        Raises:
            ConfigError: there is no run, another process writes it, or the configurations differ; the
                message names the fields that differ.
        """
        path = path.absolute()
        saved = read_saved_config(path)
        if saved["digest"] != config.compute_digest():
            changes = ", ".join(_compare(saved["config"], config.model_dump(mode="json")))
            raise ConfigError(
                f"{path} was run with another configuration ({changes or 'of another version'}); "
                "resume it with its own, or start a new run"
            )
        return cls(path, _acquire_lock(path))

    def append(self, name: str, record: Record, *, is_forced: bool = True) -> None:
        """Add one line to a `.jsonl` file; threads may do so at once.

        A line that an earlier process was killed in the middle of is cut off first. `is_forced` waits until
        the disk has it; otherwise it survives the death of this process, but not of the machine.

        Raises:
            InfrastructureError: the disk refuses.
        """
        line = record.model_dump_json().encode() + b"\n"
        path = self.path / name
        with self._appending.setdefault(name, threading.Lock()), _name_disk_errors(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            with open(path, "ab+", buffering=0) as file:
                end = _find_last_newline(file.fileno())
                file.truncate(end)
                try:
                    while line:
                        line = line[file.write(line) :]
                    if is_forced:
                        os.fsync(file.fileno())
                except OSError:
                    file.truncate(end)
                    raise

    def read(self, name: str, kind: type[RecordT]) -> tuple[RecordT, ...]:
        """The records of a `.jsonl` file, in order; none when there is no file.

        A torn last line (killed while writing) is left out.

        Raises:
            UserError: a whole line is damaged; names file and line.
        """
        return read_records(self.path / name, kind)

    def write_text(self, name: str, text: str) -> None:
        """Write a file whole or not at all, and force it to the disk.

        Raises:
            InfrastructureError: the disk refuses.
        """
        path = self.path / name
        with _name_disk_errors(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(path, text, is_forced=True)

    def remove(self, name: str) -> None:
        """Remove a file that is no longer needed, if it is there."""
        (self.path / name).unlink(missing_ok=True)

    def discard(self) -> None:
        """Remove a run that never began, and its folder if nothing else is in it."""
        for name in (CONFIG_NAME, LOCK_NAME):
            self.remove(name)
        with suppress(OSError):
            self.path.rmdir()

    def close(self) -> None:
        """Give the lock back."""
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1


def read_saved_config(path: Path) -> dict[str, Any]:
    """What `config.json` holds: `digest` and `config`.

    Raises:
        ConfigError: there is no run in the folder, or the file is damaged.
    """
    try:
        saved = json.loads((path / CONFIG_NAME).read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise ConfigError(f"{path} holds no run (no {CONFIG_NAME}); give the folder of a run") from error
    except (OSError, ValueError) as error:
        raise ConfigError(f"{path / CONFIG_NAME} cannot be read ({error}); start a new run") from error
    if not isinstance(saved, dict) or not isinstance(saved.get("config"), dict) or "digest" not in saved:
        raise ConfigError(f"{path / CONFIG_NAME} is not a saved configuration; start a new run")
    return saved


def read_records(path: Path, kind: type[RecordT]) -> tuple[RecordT, ...]:
    """The records of a `.jsonl` file, without a torn last line; none when there is no file.

    Raises:
        UserError: a whole line is damaged; names file and line.
    """
    if not path.exists():
        return ()
    lines = path.read_bytes().split(b"\n")[:-1]
    records = []
    for number, line in enumerate(lines, start=1):
        try:
            records.append(kind.model_validate_json(line))
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(map(str, first["loc"])) or "the line"
            raise UserError(
                f"{path}, line {number}: not a {kind.__name__} ({place}: {first['msg']}); "
                "it was damaged or written by another version"
            ) from error
    return tuple(records)


def _acquire_lock(path: Path) -> int:
    lock = os.open(path / LOCK_NAME, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        owner = os.pread(lock, 32, 0).decode(errors="replace").strip()
        os.close(lock)
        raise ConfigError(
            f"{path} is being written by process {owner or 'of another user'}; wait for it or stop it"
        ) from error
    os.ftruncate(lock, 0)
    os.pwrite(lock, str(os.getpid()).encode(), 0)
    return lock


def _find_last_newline(descriptor: int, block_bytes: int = 1 << 16) -> int:
    """Offset just after the last newline of a file: where the next whole line belongs."""
    end = os.fstat(descriptor).st_size
    while end > 0:
        start = max(0, end - block_bytes)
        found = os.pread(descriptor, end - start, start).rfind(b"\n")
        if found >= 0:
            return start + found + 1
        end = start
    return 0


@contextmanager
def _name_disk_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise InfrastructureError(
            f"{path} cannot be written ({error.strerror}); nothing written so far is lost: "
            "make room or mend the permissions, then resume the run"
        ) from error


def _compare(old: object, new: object, *, place: str = "") -> Iterator[str]:
    """The fields in which two dumped configurations differ, as `a.b: old, now new`."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in sorted(old.keys() | new.keys()):
            yield from _compare(old.get(key), new.get(key), place=f"{place}.{key}" if place else key)
    elif old != new:
        yield f"{place}: {_shorten(old)}, now {_shorten(new)}"


def _shorten(value: object, limit_characters: int = 60) -> str:
    text = json.dumps(value)
    return text if len(text) <= limit_characters else f"{text[:limit_characters]}..."

"""Tasks from files in the KernelBench convention."""

import io
import re
import tokenize
from pathlib import Path

from cuda_agent.errors import TaskError
from cuda_agent.tasks.source import MAX_SOURCE_BYTES, parse_task
from cuda_agent.tasks.task import Task


def load_task(path: Path) -> Task:
    """The task in one Python file, named after the file's stem.

    The file's declared encoding is honoured; the task's source is its text.

    Raises:
        TaskError: the file cannot be read, is not text, or is no task; names file, line and mend.
    """
    text = _decode(_read(path), path)
    name = re.sub(r"[^A-Za-z0-9._-]+", "_", path.stem).lstrip(".-")[:100] or "task"
    return parse_task(text, name=name, origin=str(path))


def _read(path: Path) -> bytes:
    if path.is_dir():
        files = sorted(path.glob("*.py"))
        hint = f"one of its {len(files)} .py files, or {path}/*.py" if files else "a Python file"
        raise TaskError(f"{path}: this is a folder, and a task is one file; give {hint}")
    if path.exists() and not path.is_file():
        raise TaskError(f"{path}: not a regular file; give a Python file")
    try:
        with path.open("rb") as file:
            data = file.read(MAX_SOURCE_BYTES + 1)
    except FileNotFoundError as error:
        raise TaskError(f"{path}: no such file; give the path of a task file") from error
    except OSError as error:
        raise TaskError(f"{path}: cannot be read ({error.strerror}); mend its permissions") from error
    if len(data) > MAX_SOURCE_BYTES:
        raise TaskError(f"{path}: more than {MAX_SOURCE_BYTES} bytes; a task is a short program")
    return data


def _decode(data: bytes, path: Path) -> str:
    if b"\0" in data:
        line = data[: data.index(b"\0")].count(b"\n") + 1
        raise TaskError(f"{path}, line {line}: holds a null byte; save it as UTF-8 text")
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
    except SyntaxError as error:
        raise TaskError(f"{path}, line 1: {error.msg or error}; save it as UTF-8") from error
    try:
        return data.decode(encoding)
    except LookupError as error:
        raise TaskError(f"{path}, line 1: {encoding!r} is no text encoding; save it as UTF-8") from error
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise TaskError(
            f"{path}, line {line}: byte {data[error.start]:#04x} is not {encoding}; save it as UTF-8, "
            "or declare its encoding in the first line"
        ) from error

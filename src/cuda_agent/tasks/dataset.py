"""Tasks from a parquet file: our own data sets, and the published CUDA-Agent-Ops-6K."""

import ast
import difflib
import json
import random
import re
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet

from cuda_agent.atomic import write_aside
from cuda_agent.config import Record
from cuda_agent.errors import TaskError, UserError
from cuda_agent.tasks.source import parse_task
from cuda_agent.tasks.task import Task


class Row(Record):
    """One task of a data set. Only the first three columns are always there: they are the paper's."""

    ops: tuple[str, ...]
    """The operators that it consists of."""
    data_source: str
    """Library and number of operators: torch#2."""
    code: str
    """The program."""
    id: str = ""
    """Its content key; a row's number where the file has no such column."""
    seed: int = 0
    """What it was composed from."""
    number: int = 0
    """Which candidate of its seed it was."""
    family: str = ""
    """What it shares with the same program at other sizes or in other precisions."""
    precision: str = "float32"
    """What its floating inputs and weights are stored in."""
    split: str = ""
    """train, validation or heldout: all tasks of one combination of operators are in one."""
    eager_ms: float = 0.0
    """Median eager time on the device."""
    compile_ms: float = 0.0
    """Median time of torch.compile's form."""
    device: str = ""
    """Where it was timed."""
    memory_bytes: int = 0
    """What it takes."""
    tags: tuple[str, ...] = ()
    """What its operators belong to."""
    nearest_kernelbench: str = ""
    """The most similar KernelBench task; empty where it was not looked for."""
    kernelbench_similarity: float = 0.0
    """How similar it is."""


def read_dataset(path: Path) -> tuple[Row, ...]:
    """The rows of a parquet file with at least the columns ops, data_source and code.

    Raises:
        UserError: it cannot be read, or a column is missing or of another kind.
    """
    try:
        stat = path.stat()
        return _read_rows(path, (stat.st_mtime_ns, stat.st_size))
    except (OSError, pyarrow.ArrowException) as error:
        raise UserError(f"{path}: not readable as parquet ({error}); give a .parquet file") from error


@lru_cache(maxsize=4)
def _read_rows(path: Path, _stamp: tuple[int, int]) -> tuple[Row, ...]:
    """The rows of a file as it is now: who asks for them one by one must not read it as often."""
    table = pyarrow.parquet.read_table(path)
    missing = {"ops", "data_source", "code"} - set(table.column_names)
    if missing:
        raise UserError(f"{path}: has no column {min(missing)}; a data set has ops, data_source and code")
    columns = [name for name in table.column_names if name in Row.model_fields]
    return tuple(
        _read_row(row, number, path=path) for number, row in enumerate(table.select(columns).to_pylist())
    )


def write_dataset(path: Path, rows: Sequence[Row]) -> None:
    """Write rows as parquet, whole or not at all, every column typed; any reader of parquet can load it.

    Raises:
        UserError: the place cannot be written.
    """
    text, texts = pyarrow.string(), pyarrow.list_(pyarrow.string())
    kinds = {int: pyarrow.int64(), float: pyarrow.float64(), str: text}
    schema = pyarrow.schema(
        [(name, kinds.get(field.annotation, texts)) for name, field in Row.model_fields.items()]  # type: ignore[arg-type]
    )
    table = pyarrow.Table.from_pylist([row.model_dump(mode="json") for row in rows], schema=schema)
    try:
        with write_aside(path) as aside:
            pyarrow.parquet.write_table(table, aside, compression="zstd")
    except OSError as error:
        raise UserError(f"{path} cannot be written ({error.strerror}); choose another place") from error


def load_tasks(place: str) -> tuple[Task, ...]:
    """The tasks that a place names.

    `FILE.parquet` names all of them, `FILE.parquet#ID` one, `FILE.parquet#SPLIT` a split's (`all` is the
    whole file), `FILE.parquet#SPLIT:N` N of these drawn at random, and `FILE.parquet#SPLIT:N:SEED` N others.

    Raises:
        UserError: the file cannot be read, or holds no such rows.
        TaskError: a row is no task.
    """
    path, _, wished = place.partition("#")
    rows = read_dataset(Path(path))
    if wished:
        rows = _choose(rows, wished, path=path)
    if not rows:
        raise UserError(f"{path}: holds no rows; give a data set with tasks")
    return tuple(parse_task(row.code, name=_name(row), origin=f"{path}#{row.id}") for row in rows)


def is_dataset(place: str) -> bool:
    """Whether a place names rows of a parquet file."""
    return place.partition("#")[0].endswith(".parquet")


def _choose(rows: tuple[Row, ...], wished: str, *, path: str) -> tuple[Row, ...]:
    chosen = tuple(row for row in rows if row.id == wished)
    if chosen:
        return chosen
    splits = {"all": rows} | {row.split: () for row in rows if row.split}
    split, *numbers = wished.split(":")
    if split not in splits:
        near = difflib.get_close_matches(wished, [*splits, *(row.id for row in rows)], n=3, cutoff=0.0)
        raise UserError(f"{path}: has no row and no split {wished!r}; the nearest are {', '.join(near)}")
    part = splits[split] or tuple(row for row in rows if row.split == split)
    return _sample(part, numbers, place=f"{path}#{wished}") if numbers else part


def _sample(rows: tuple[Row, ...], numbers: list[str], *, place: str) -> tuple[Row, ...]:
    """So many rows, in the file's order; the same for the same seed."""
    if len(numbers) > 2 or not all(number.isascii() and number.isdecimal() for number in numbers):
        raise UserError(f"{place}: write SPLIT:N or SPLIT:N:SEED, with whole numbers")
    count, seed = (*map(int, numbers), 0)[:2]
    if not 0 < count <= len(rows):
        raise UserError(f"{place}: holds {len(rows)} rows; draw between 1 and {len(rows)}")
    drawn = random.Random(seed).sample(range(len(rows)), count)
    return tuple(rows[index] for index in sorted(drawn))


def _name(row: Row) -> str:
    words = [name.rpartition(".")[2] for name in row.ops]
    return re.sub(r"[^A-Za-z0-9_-]+", "_", "-".join(words)).strip("-_")[:80] or "task"


def _read_row(row: dict[str, Any], number: int, *, path: Path) -> Row:
    present = {key: value for key, value in row.items() if value is not None}
    try:
        present["ops"] = _read_ops(present.get("ops", ()))
        present["id"] = str(present.get("id") or number)
        return Row.model_validate(present)
    except ValueError as error:
        raise TaskError(f"{path}, row {number}: not a task's row ({str(error).splitlines()[0]})") from error


def _read_ops(value: object) -> tuple[str, ...]:
    """A list of names, or a list written as text (JSON or Python), or names with commas between them."""
    if isinstance(value, str):
        text = value.strip()
        if not text.startswith(("[", "(")):
            return tuple(part.strip() for part in text.split(",") if part.strip())
        try:
            value = json.loads(text)
        except ValueError:
            try:
                value = ast.literal_eval(text)
            except (SyntaxError, ValueError, MemoryError, RecursionError):
                raise ValueError("ops is no list of names") from None
    if not isinstance(value, list | tuple):
        raise ValueError("ops is no list of names")
    return tuple(map(str, value))

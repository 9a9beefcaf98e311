"""KernelBench as it is published: its folders, its parquet files, and which version a set of its tasks is."""

import hashlib
import re
import tomllib
from collections.abc import Mapping
from importlib import resources
from pathlib import Path

import pyarrow
import pyarrow.parquet

from cuda_agent.config import Record
from cuda_agent.errors import UserError

VERSIONS_FILE = "kernelbench_versions.toml"
"""Digests of the published versions' tasks, as `scripts/kernelbench_versions.py` writes them."""

_LEVEL = re.compile(r"level_?(\d+)")
_COLUMNS = {"code", "level", "name", "problem_id"}
_NAMED = 5


class Problem(Record):
    """A task as a parquet file has it."""

    level: int
    """Its level, from 1."""
    number: int
    """Its number within the level."""
    name: str
    """Its name, which begins with the number."""
    code: str
    """The program."""


def find_level_folders(path: Path) -> dict[int, Path]:
    """KernelBench's folders by level: of a checkout, of the folder within it, or one level's folder alone."""
    for root in (path / "KernelBench", path):
        levels = {level: folder for folder in _list_folders(root) if (level := read_level(folder.name))}
        if levels:
            return dict(sorted(levels.items()))
    level = read_level(path.resolve().name)
    return {level: path} if level else {}


def read_level(name: str) -> int:
    """The level that a folder or a split is named after; 0 when it is none."""
    found = _LEVEL.fullmatch(name)
    return int(found[1]) if found else 0


def is_kernelbench_table(path: Path) -> bool:
    """Whether a parquet file has KernelBench's columns.

    Raises:
        UserError: it is no parquet file.
    """
    try:
        return set(pyarrow.parquet.read_schema(path).names) >= _COLUMNS
    except (OSError, pyarrow.ArrowException) as error:
        raise UserError(f"{path}: not readable as parquet ({error}); give a .parquet file") from error


def read_problem_table(path: Path) -> tuple[Problem, ...]:
    """The tasks of one of KernelBench's parquet files.

    Raises:
        UserError: a row is no task's.
    """
    rows = pyarrow.parquet.read_table(path, columns=sorted(_COLUMNS)).to_pylist()
    return tuple(_read_row(row, number, path=path) for number, row in enumerate(rows))


def _read_row(row: dict[str, object], number: int, *, path: Path) -> Problem:
    try:
        name = str(row["name"]).removesuffix(".py")
        return Problem.model_validate(
            {"level": row["level"], "number": row["problem_id"], "name": name, "code": row["code"]}
        )
    except ValueError as error:
        raise UserError(
            f"{path}, row {number}: not a KernelBench task ({str(error).splitlines()[0]})"
        ) from error


def compute_digest(source: str) -> str:
    """What tells one version of a task from another: eight hex digits of its text without white space."""
    return hashlib.sha256("".join(source.split()).encode()).hexdigest()[:8]


def load_versions() -> dict[str, dict[tuple[int, int], str]]:
    """Digests of each published version's tasks, by level and number."""
    text = resources.files("cuda_agent.bench").joinpath(VERSIONS_FILE).read_text(encoding="utf-8")
    return {
        version: {
            (read_level(level), number): digest
            for level, digests in tables["tasks"].items()
            for number, digest in enumerate(digests.split(), start=1)
        }
        for version, tables in tomllib.loads(text).items()
    }


def recognise_version(
    sources: Mapping[tuple[int, int], str],
    versions: Mapping[str, Mapping[tuple[int, int], str]] | None = None,
) -> str:
    """Which published version a set of tasks is, in words, with the tasks that are not.

    Args:
        sources: programs by level and number.
        versions: digests by version, level and number; those that are known, unless given.
    """
    digests = {key: compute_digest(source) for key, source in sources.items()}
    known = load_versions() if versions is None else versions
    other = {
        version: [key for key, digest in digests.items() if table.get(key) != digest]
        for version, table in known.items()
    }
    fewest = min(map(len, other.values()), default=len(digests))
    best = [version for version, keys in other.items() if len(keys) == fewest]
    if not digests or fewest > len(digests) / 2:
        return f"no version that is known: {fewest} of {len(digests)} tasks are in none"
    name = " or ".join(best)
    if not fewest:
        return f"KernelBench {name}"
    named = ", ".join(f"level{level}/{number}" for level, number in sorted(other[best[-1]])[:_NAMED])
    return (
        f"KernelBench {name}, but for {fewest} of {len(digests)} tasks ({named}{', ...' * (fewest > _NAMED)})"
    )


def _list_folders(root: Path) -> list[Path]:
    return [folder for folder in root.iterdir() if folder.is_dir()] if root.is_dir() else []

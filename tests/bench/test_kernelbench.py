"""Which published version a set of tasks is, is told by digests; and rows of its tables are checked."""

from pathlib import Path

import pyarrow
import pyarrow.parquet
import pytest

from cuda_agent.bench.kernelbench import (
    compute_digest,
    find_level_folders,
    is_kernelbench_table,
    load_versions,
    read_level,
    read_problem_table,
    recognise_version,
)
from cuda_agent.errors import UserError

SOURCES = {(1, number): f"x = {number}\n" for number in (1, 2, 10, 11)}
DIGESTS = {key: compute_digest(source) for key, source in SOURCES.items()}


def test_published_versions_have_270_tasks_each_and_differ() -> None:
    versions = load_versions()
    assert list(versions) == ["v0", "v0.1", "v0.2"]
    for table in versions.values():
        assert [sum(key[0] == level for key in table) for level in (1, 2, 3, 4)] == [100, 100, 50, 20]
    changed = [key for key in versions["v0.1"] if versions["v0.1"][key] != versions["v0.2"][key]]
    assert changed == [(1, 12), (1, 92), (1, 97)]


def test_a_version_is_recognised_whatever_the_white_space() -> None:
    versions = {"old": {**DIGESTS, (1, 1): "0"}, "new": DIGESTS}
    assert (
        recognise_version({key: f"{text}\n\n" for key, text in SOURCES.items()}, versions)
        == "KernelBench new"
    )


def test_what_two_versions_share_is_called_both() -> None:
    versions = {"old": DIGESTS, "new": DIGESTS}
    assert recognise_version(SOURCES, versions) == "KernelBench old or new"


def test_a_few_changed_tasks_are_named() -> None:
    changed = {**SOURCES, (1, 10): "x = 0\n"}
    found = recognise_version(changed, {"new": DIGESTS})
    assert found == "KernelBench new, but for 1 of 4 tasks (level1/10)"


def test_other_tasks_are_no_known_version() -> None:
    other = dict.fromkeys(SOURCES, "y = 1\n")
    assert recognise_version(other, {"new": DIGESTS}).startswith("no version that is known")
    assert recognise_version({}, {"new": DIGESTS}).startswith("no version that is known")


def test_levels_are_read_from_names(tmp_path: Path) -> None:
    names = ("level1", "level10", "level_2", "levels", "1")
    assert [read_level(name) for name in names] == [1, 10, 2, 0, 0]
    for name in ("level10", "level2", "other"):
        (tmp_path / name).mkdir()
    assert list(find_level_folders(tmp_path)) == [2, 10]
    assert find_level_folders(tmp_path / "level10") == {10: tmp_path / "level10"}


def test_a_row_that_is_no_task_is_named(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    row = {"code": "x", "level": None, "name": "1_x", "problem_id": 1}
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist([{**row, "level": 1}, row]), path)
    assert is_kernelbench_table(path)
    with pytest.raises(UserError, match="row 1: not a KernelBench task"):
        read_problem_table(path)

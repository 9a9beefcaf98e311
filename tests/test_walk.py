"""However deep a folder is, it is walked through to the end, and nothing outside of it."""

import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from cuda_agent.scratch import remove_tree
from cuda_agent.walk import walk_folders
from tests.deep_folders import make_deep, make_shut


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Path]:
    """A folder that is surely removed: what removes the others cannot remove these."""
    folder = tmp_path / "place"
    folder.mkdir()
    yield folder
    remove_tree(folder)


@contextmanager
def few_descriptors() -> Iterator[None]:
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    used = max(map(int, os.listdir("/proc/self/fd")))
    resource.setrlimit(resource.RLIMIT_NOFILE, (used + 8, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


def test_each_folder_comes_before_what_lies_in_it(place: Path) -> None:
    for path in ("b/c", "b/a", "d"):
        (place / path).mkdir(parents=True)
    (place / "b" / "file").touch()
    visits = {visit.path: (sorted(visit.folders), visit.names) for visit in walk_folders(place)}
    assert visits == {
        "": (["b", "d"], []),
        "b": (["a", "c"], ["file"]),
        "b/a": ([], []),
        "b/c": ([], []),
        "d": ([], []),
    }
    order = list(visits)
    assert order[0] == ""
    assert order.index("b") < min(order.index("b/a"), order.index("b/c"))


@pytest.mark.parametrize("levels", [20, 1200, 3000])
def test_depth_costs_neither_stack_nor_descriptors(place: Path, levels: int) -> None:
    make_deep(place, levels)
    (place / "beside").mkdir()
    with few_descriptors():
        found = [(len(Path(visit.path).parts), visit.names) for visit in walk_folders(place)]
    assert len(found) == levels + 2
    assert max(found) == (levels, ["file"])


def test_links_are_names_like_others(place: Path) -> None:
    (place / "outside" / "secret").mkdir(parents=True)
    top = place / "top"
    top.mkdir()
    (top / "link").symlink_to(place / "outside")
    assert [(visit.path, visit.folders, visit.names) for visit in walk_folders(top)] == [("", [], ["link"])]


def test_a_folder_that_is_taken_out_is_not_visited(place: Path) -> None:
    for path in ("hidden/a", "shown"):
        (place / path).mkdir(parents=True)
    paths = []
    for visit in walk_folders(place):
        paths.append(visit.path)
        visit.folders[:] = [name for name in visit.folders if name != "hidden"]
    assert paths == ["", "shown"]


def test_a_folder_that_is_moved_away_ends_the_walk_inside(place: Path) -> None:
    (place / "top" / "a" / "b").mkdir(parents=True)
    (place / "secret").mkdir()
    paths = []
    for visit in walk_folders(place / "top"):
        paths.append(visit.path)
        if visit.path == "a/b":
            (place / "top" / "a" / "b").rename(place / "b")
    assert paths == ["", "a", "a/b"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may enter everything")
def test_what_is_shut_is_left_out(place: Path) -> None:
    make_shut(place)
    (place / "open").mkdir()
    paths = {visit.path for visit in walk_folders(place)}
    assert {"", "open", "555"} <= paths
    assert not any(path.startswith(("0/", "444/")) for path in paths)


def test_nothing_is_walked_where_nothing_is(place: Path) -> None:
    assert list(walk_folders(place / "none")) == []

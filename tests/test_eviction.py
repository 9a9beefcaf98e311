"""A cache stays within its bytes, whoever adds to it and evicts at once."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from cuda_agent.eviction import UNFINISHED, make_room, touch_entry
from tests.deep_folders import make_deep

ROOT = Path(__file__).resolve().parents[1]
ADDER = """
import sys
from pathlib import Path
from cuda_agent.eviction import make_room
place, name = Path(sys.argv[1]), sys.argv[2]
for number in range(60):
    entry = place / f"{name}{number}"
    entry.mkdir()
    (entry / "data").write_bytes(bytes(1000))
    make_room(place, added_bytes=1000, limit_bytes=20_000)
"""


def add(place: Path, name: str, *, nbytes: int, used_s: float = 0.0) -> Path:
    entry = place / name
    (entry / "below").mkdir(parents=True)
    (entry / "below" / "data").write_bytes(bytes(nbytes))
    stamp = time.time() - 1000 + used_s
    os.utime(entry, (stamp, stamp))
    return entry


def list_entries(place: Path) -> set[str]:
    return {path.name for path in place.iterdir() if path.is_dir()}


def measure(place: Path) -> int:
    return sum(file.stat().st_size for file in place.glob("*/**/*") if file.is_file())


def test_what_was_longest_unused_goes_first(tmp_path: Path) -> None:
    for age, name in enumerate("abcd"):
        add(tmp_path, name, nbytes=100, used_s=float(age))
    touch_entry(tmp_path / "a")
    make_room(tmp_path, added_bytes=100, limit_bytes=250)
    assert list_entries(tmp_path) == {"a", "d"}


def test_little_that_was_added_is_not_worth_a_look_and_much_is(tmp_path: Path) -> None:
    make_room(tmp_path, added_bytes=0, limit_bytes=800)
    add(tmp_path, "a", nbytes=900)
    make_room(tmp_path, added_bytes=50, limit_bytes=800)
    assert list_entries(tmp_path) == {"a"}
    make_room(tmp_path, added_bytes=50, limit_bytes=800)
    assert list_entries(tmp_path) == set()


def test_what_was_abandoned_goes_and_what_is_being_written_stays(tmp_path: Path) -> None:
    add(tmp_path, f"{UNFINISHED}old", nbytes=1, used_s=-5000.0)
    add(tmp_path, f"{UNFINISHED}now", nbytes=1)
    add(tmp_path, "gone-half", nbytes=1)
    make_room(tmp_path, added_bytes=0, limit_bytes=100)
    assert list_entries(tmp_path) == {f"{UNFINISHED}now"}


@pytest.mark.parametrize("ahead_s", [-86_400.0, 86_400.0])
def test_a_clock_that_jumps_does_not_stop_it(tmp_path: Path, ahead_s: float) -> None:
    make_room(tmp_path, added_bytes=0, limit_bytes=1 << 20)
    add(tmp_path, "a", nbytes=900)
    stamp = time.time() + ahead_s
    os.utime(tmp_path / "swept", (stamp, stamp))
    make_room(tmp_path, added_bytes=0, limit_bytes=1)
    assert list_entries(tmp_path) == set()


def test_a_link_or_a_deep_entry_does_no_harm(tmp_path: Path) -> None:
    place, outside = tmp_path / "place", tmp_path / "outside"
    add(outside, "b", nbytes=1000)
    make_deep(add(place, "a", nbytes=1), 1200)
    (place / "link").symlink_to(outside)
    make_room(place, added_bytes=0, limit_bytes=0)
    assert list_entries(place) == {"link"}
    assert (outside / "b" / "below" / "data").exists()


def test_two_that_add_at_once_stay_within_the_limit_and_an_eighth_each(tmp_path: Path) -> None:
    env = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    adders = [
        subprocess.Popen([sys.executable, "-c", ADDER, str(tmp_path), name], env=env) for name in ("a", "b")
    ]
    assert [adder.wait() for adder in adders] == [0, 0]
    assert measure(tmp_path) <= 20_000 * 10 // 8
    make_room(tmp_path, added_bytes=2500, limit_bytes=20_000)
    assert 15_000 <= measure(tmp_path) <= 20_000
    assert not [name for name in list_entries(tmp_path) if name.startswith("gone-")]


def test_a_place_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="none"):
        make_room(tmp_path / "none", added_bytes=1, limit_bytes=1)

"""A build is done once, whatever becomes of those who do it, and never taken for another."""

import dataclasses
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from cuda_agent.environment.build_cache import ENTRY, BuildCache, compute_key
from cuda_agent.environment.compilers import find_compilers
from cuda_agent.environment.result import BuildResult, BuildStatus
from cuda_agent.environment.submission import Submission
from cuda_agent.sandbox.process import ProcessSandbox
from cuda_agent.sandbox.protocol import Command, Completed, Containment, Sandbox
from cuda_agent.tasks.target import Target

PLAIN = ProcessSandbox()
SOURCE = b"#include <cuda_agent/kernel.h>\nstatic void f() {}\nEXPORT_KERNEL(f, f);\n"


def make(source: bytes = SOURCE, model: bytes = b"") -> Submission:
    return Submission({"model_new.py": model, "kernels/a.cpp": source})


class Counting:
    """A real sandbox that counts what it runs."""

    containment = Containment.PROCESS

    def __init__(self) -> None:
        self._inner = ProcessSandbox()
        self.runs = 0

    def run(self, command: Command) -> Completed:
        self.runs += 1
        return self._inner.run(command)


def build(
    cache: BuildCache, submission: Submission, *, folder: Path, sandbox: Sandbox | Counting
) -> tuple[BuildResult, Path | None]:
    return cache.build(
        submission,
        target=Target.CPU,
        sandbox=sandbox,  # type: ignore[arg-type]
        folder=folder,
        check_library=True,
    )


def list_entries(folder: Path) -> list[Path]:
    return [place for place in folder.iterdir() if place.is_dir()]


def test_the_second_build_runs_no_compiler_and_gives_the_same(tmp_path: Path) -> None:
    cache, sandbox = BuildCache(tmp_path / "cache"), Counting()
    first, library = build(cache, make(), folder=tmp_path / "a", sandbox=sandbox)
    runs = sandbox.runs
    again, copy = build(cache, make(model=b"# another model"), folder=tmp_path / "b", sandbox=sandbox)
    assert (first.status, sandbox.runs) == (BuildStatus.OK, runs)
    assert library is not None
    assert copy == tmp_path / "b" / "kernels.so"
    assert copy.read_bytes() == library.read_bytes()
    assert again.functions == ("f",)
    assert again.duration_s < first.duration_s


def test_any_change_of_a_source_is_another_build(tmp_path: Path) -> None:
    compilers = find_compilers(Target.CPU)
    keys = {
        compute_key(submission, compilers, check_library=checked)
        for submission in (make(), make(SOURCE + b"\n"), Submission({"kernels/b.cpp": SOURCE}))
        for checked in (True, False)
    }
    assert len(keys) == 6


def test_an_error_is_kept_too(tmp_path: Path) -> None:
    cache, sandbox = BuildCache(tmp_path / "cache"), Counting()
    first, _ = build(cache, make(b"int x = y;\n"), folder=tmp_path / "a", sandbox=sandbox)
    runs = sandbox.runs
    again, library = build(cache, make(b"int x = y;\n"), folder=tmp_path / "b", sandbox=sandbox)
    assert (sandbox.runs, library) == (runs, None)
    assert again.status is first.status is BuildStatus.COMPILE_ERROR
    assert again.error_lines == first.error_lines


@pytest.mark.parametrize("damage", ["library cut", "library gone", "entry torn", "entry of another"])
def test_a_damaged_entry_is_built_anew(damage: str, tmp_path: Path) -> None:
    cache, sandbox = BuildCache(tmp_path / "cache"), Counting()
    _, library = build(cache, make(), folder=tmp_path / "a", sandbox=sandbox)
    assert library is not None
    (place,) = list_entries(tmp_path / "cache")
    if damage == "library cut":
        os.truncate(place / "kernels.so", 100)
    elif damage == "library gone":
        (place / "kernels.so").unlink()
    elif damage == "entry torn":
        os.truncate(place / ENTRY, 20)
    else:
        (place / "kernels.so").write_bytes(b"\x7fELF of somebody else")
    runs = sandbox.runs
    result, copy = build(cache, make(), folder=tmp_path / "b", sandbox=sandbox)
    assert result.status is BuildStatus.OK
    assert sandbox.runs > runs
    assert copy is not None
    assert copy.stat().st_size == library.stat().st_size


def test_many_at_once_keep_one_entry(tmp_path: Path) -> None:
    cache = BuildCache(tmp_path / "cache")

    def run(number: int) -> BuildStatus:
        return build(cache, make(), folder=tmp_path / str(number), sandbox=PLAIN)[0].status

    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(run, range(4))) == {BuildStatus.OK}
    assert len(list_entries(tmp_path / "cache")) == 1


KEEPER = """
import sys, time
from pathlib import Path
from cuda_agent.environment import build_cache
from cuda_agent.environment.submission import Submission
from cuda_agent.sandbox.process import ProcessSandbox
from cuda_agent.tasks.target import Target
def hang(entry):
    print("keeping", flush=True)
    time.sleep(600)
build_cache.Entry.model_dump_json = hang
build_cache.BuildCache(Path(sys.argv[1])).build(
    Submission({"kernels/a.cpp": sys.stdin.buffer.read()}), target=Target.CPU, sandbox=ProcessSandbox(),
    folder=Path(sys.argv[2]), check_library=True)
"""


def test_a_keeper_killed_half_way_leaves_nothing_that_counts(tmp_path: Path) -> None:
    keeper = subprocess.Popen(
        [sys.executable, "-c", KEEPER, str(tmp_path / "cache"), str(tmp_path / "a")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert keeper.stdin is not None
    assert keeper.stdout is not None
    keeper.stdin.write(SOURCE)
    keeper.stdin.close()
    assert keeper.stdout.readline() == b"keeping\n"
    keeper.send_signal(signal.SIGKILL)
    keeper.wait()
    (half,) = list_entries(tmp_path / "cache")
    assert half.name.startswith(".")
    result, _ = build(BuildCache(tmp_path / "cache"), make(), folder=tmp_path / "b", sandbox=PLAIN)
    assert result.status is BuildStatus.OK
    long_ago = time.time() - 7200
    os.utime(half, (long_ago, long_ago))
    (tmp_path / "cache" / "swept").unlink()
    build(BuildCache(tmp_path / "cache"), make(SOURCE + b"\n"), folder=tmp_path / "c", sandbox=PLAIN)
    assert not half.exists()
    assert len(list_entries(tmp_path / "cache")) == 2


def test_what_was_longest_unused_goes_first(tmp_path: Path) -> None:
    place = tmp_path / "cache"
    for number in range(3):
        build(BuildCache(place), make(SOURCE + b"\n" * number), folder=tmp_path / "a", sandbox=PLAIN)
        for entry in list_entries(place):
            os.utime(entry, (entry.stat().st_atime, entry.stat().st_mtime - 1000))
    oldest, *_ = sorted(list_entries(place), key=lambda entry: entry.stat().st_mtime)
    nbytes = sum(file.stat().st_size for file in oldest.iterdir())
    (place / "swept").unlink()
    narrow = BuildCache(place, limit_bytes=3 * nbytes + nbytes // 2)
    build(narrow, make(SOURCE + b"\n" * 3), folder=tmp_path / "a", sandbox=PLAIN)
    assert len(list_entries(place)) == 3
    assert not oldest.exists()


def test_a_folder_that_cannot_be_written_costs_only_time(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    result, library = build(
        BuildCache(tmp_path / "file" / "cache"), make(), folder=tmp_path / "a", sandbox=PLAIN
    )
    assert result.status is BuildStatus.OK
    assert library is not None


def test_a_clock_that_was_set_back_does_not_stop_the_sweeping(tmp_path: Path) -> None:
    place = tmp_path / "cache"
    build(BuildCache(place), make(), folder=tmp_path / "a", sandbox=PLAIN)
    (first,) = list_entries(place)
    ahead = time.time() + 86_400
    os.utime(place / "swept", (ahead, ahead))
    build(BuildCache(place, limit_bytes=1), make(SOURCE + b"\n"), folder=tmp_path / "b", sandbox=PLAIN)
    assert not first.exists()
    assert (place / "swept").stat().st_mtime < ahead


def test_another_device_is_another_build() -> None:
    plain = find_compilers(Target.CPU)
    keys = {
        compute_key(make(), dataclasses.replace(plain, nvcc=plain.cxx, arch=arch), check_library=True)
        for arch in ("sm_90a", "sm_89")
    }
    assert len(keys) == 2

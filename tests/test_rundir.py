"""A run's folder survives being killed, resumed and written by two."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from cuda_agent.config import Config, Record
from cuda_agent.errors import ConfigError, InfrastructureError, UserError
from cuda_agent.rundir import RunDir, build_default_path, read_records, read_saved_config
from tests.full_disk import full_disk


class Inner(Config):
    """A nested part."""

    turns: int = 150
    """Turns."""


class Job(Config):
    """A configuration."""

    name: str = "a"
    """Name."""
    limits: Inner = Inner()
    """Limits."""


class Fact(Record):
    """A line."""

    value: int
    """Value."""


def read_values(run: RunDir) -> list[int]:
    return [fact.value for fact in run.read("facts.jsonl", Fact)]


def test_records_come_back_in_order_also_after_a_resume(tmp_path: Path) -> None:
    with RunDir.create(tmp_path / "a" / "b", Job()) as run:
        run.append("facts.jsonl", Fact(value=1))
        run.append("facts.jsonl", Fact(value=2))
    with RunDir.resume(tmp_path / "a" / "b", Job()) as run:
        run.append("facts.jsonl", Fact(value=3))
        assert read_values(run) == [1, 2, 3]
        assert run.read("none.jsonl", Fact) == ()


@pytest.mark.parametrize("torn", [b'{"val', b'{"value":9}', b"\x00" * 70_000])
def test_a_torn_last_line_is_dropped_and_overwritten(tmp_path: Path, torn: bytes) -> None:
    with RunDir.create(tmp_path / "run", Job()) as run:
        run.append("facts.jsonl", Fact(value=1))
        with (run.path / "facts.jsonl").open("ab") as file:
            file.write(torn)
        assert read_values(run) == [1]
        run.append("facts.jsonl", Fact(value=2))
        assert read_values(run) == [1, 2]


def test_a_file_that_is_nothing_but_a_torn_line_is_empty(tmp_path: Path) -> None:
    with RunDir.create(tmp_path / "run", Job()) as run:
        (run.path / "facts.jsonl").write_bytes(b'{"value":1')
        assert read_values(run) == []
        run.append("facts.jsonl", Fact(value=2))
        assert read_values(run) == [2]


def test_a_damaged_line_in_the_middle_is_named(tmp_path: Path) -> None:
    path = tmp_path / "facts.jsonl"
    path.write_bytes(b'{"value":1}\n{"value":"x"}\n{"value":3}\n')
    with pytest.raises(UserError, match=r"facts\.jsonl, line 2: not a Fact \(value"):
        read_records(path, Fact)


def test_another_configuration_names_the_fields_that_differ(tmp_path: Path) -> None:
    RunDir.create(tmp_path / "run", Job()).close()
    with pytest.raises(ConfigError, match=r"limits\.turns: 150, now 3\)"):
        RunDir.resume(tmp_path / "run", Job(limits=Inner(turns=3)))
    assert read_saved_config(tmp_path / "run")["config"]["limits"] == {"turns": 150}


def test_a_folder_in_use_is_never_started_over(tmp_path: Path) -> None:
    RunDir.create(tmp_path / "run", Job()).close()
    with pytest.raises(ConfigError, match="--resume"):
        RunDir.create(tmp_path / "run", Job())
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "thesis.tex").touch()
    with pytest.raises(ConfigError, match="not empty"):
        RunDir.create(tmp_path / "other", Job())
    with pytest.raises(ConfigError, match="cannot be made"):
        RunDir.create(tmp_path / "other" / "thesis.tex" / "x", Job())
    with pytest.raises(ConfigError, match="holds no run"):
        RunDir.resume(tmp_path / "nowhere", Job())


HOLDER = """
import sys, time
from pathlib import Path
from cuda_agent.config import Config
from cuda_agent.rundir import RunDir

class Inner(Config):
    turns: int = 150

class Job(Config):
    name: str = "a"
    limits: Inner = Inner()

run = RunDir.resume(Path(sys.argv[1]), Job())
print("held", flush=True)
time.sleep(60)
"""


@pytest.fixture
def holder(tmp_path: Path) -> Iterator["subprocess.Popen[bytes]"]:
    """Another process that holds the run."""
    RunDir.create(tmp_path / "run", Job()).close()
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(tmp_path / "run")],
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1] / "src")},
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"held\n"
    yield process
    process.kill()
    process.communicate()


def test_two_processes_cannot_write_one_run(tmp_path: Path, holder: "subprocess.Popen[bytes]") -> None:
    with pytest.raises(ConfigError, match=f"being written by process {holder.pid}"):
        RunDir.resume(tmp_path / "run", Job())


def test_the_lock_of_a_killed_process_is_gone(tmp_path: Path, holder: "subprocess.Popen[bytes]") -> None:
    holder.send_signal(signal.SIGKILL)
    holder.wait()
    RunDir.resume(tmp_path / "run", Job()).close()


def test_a_file_is_replaced_whole(tmp_path: Path) -> None:
    with RunDir.create(tmp_path / "run", Job()) as run:
        run.write_text("deep/er/note.txt", "one")
        run.write_text("deep/er/note.txt", "two")
        assert (run.path / "deep/er/note.txt").read_text() == "two"
        assert os.listdir(run.path / "deep/er") == ["note.txt"]
        run.remove("deep/er/note.txt")
        run.remove("deep/er/note.txt")
        assert os.listdir(run.path / "deep/er") == []


def test_a_full_disk_loses_nothing_and_says_so(tmp_path: Path) -> None:
    with RunDir.create(tmp_path / "run", Job()) as run:
        run.append("facts.jsonl", Fact(value=1))
        run.write_text("note.txt", "kept")
        with full_disk(20):
            with pytest.raises(InfrastructureError, match=r"facts\.jsonl cannot be written"):
                run.append("facts.jsonl", Fact(value=12345678901234567890))
            with pytest.raises(InfrastructureError, match="make room"):
                run.write_text("note.txt", "x" * 100)
        assert read_values(run) == [1]
        assert (run.path / "facts.jsonl").read_bytes() == b'{"value":1}\n'
        assert (run.path / "note.txt").read_text() == "kept"
        assert sorted(os.listdir(run.path)) == ["config.json", "facts.jsonl", "lock", "note.txt"]


def test_a_run_that_never_began_is_discarded_and_takes_nothing_else_along(tmp_path: Path) -> None:
    with RunDir.create(tmp_path / "run", Job()) as run:
        run.discard()
    assert not run.path.exists()
    with RunDir.create(tmp_path / "other", Job()) as run:
        run.write_text("note.txt", "kept")
        run.discard()
    assert os.listdir(run.path) == ["note.txt"]


def test_default_names_are_dated_and_never_the_same() -> None:
    one, other = build_default_path("run"), build_default_path("run")
    assert one != other
    assert one.parent == Path("runs")
    assert "-run-" in one.name

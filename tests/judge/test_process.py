"""A child stands still when it is told to, with everything it has started."""

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from cuda_agent.judge import process, wired_process
from cuda_agent.judge.census import find_processes_below, is_moving
from cuda_agent.judge.policy import Precision
from cuda_agent.judge.process import ChildError, ChildProcess, _build_environment
from cuda_agent.judge.protocol import Load, Prepare
from cuda_agent.judge.replies import Done, Prepared
from cuda_agent.sandbox.protocol import Sandbox
from cuda_agent.sandbox.scrub import build_environment
from cuda_agent.tasks.target import Target


def read_states(child: ChildProcess) -> set[str]:
    pids = find_processes_below(child._process.running.pid)
    assert pids
    return {Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] for pid in pids}


def test_a_stopped_child_stands_still_and_goes_on(sandbox: Sandbox, tmp_path: Path) -> None:
    prepare = Prepare(target=Target.CPU, precision=Precision.HIGHEST, threads=1)
    child = ChildProcess("cuda_agent.judge.runner", sandbox=sandbox, target=Target.CPU, folder=tmp_path)
    with child:
        child.ask(prepare, Prepared, timeout_s=120)
        child.stop()
        assert read_states(child) == {"T"}
        child.resume()
        assert "T" not in read_states(child)
        child.ask(prepare, Prepared, timeout_s=60)


CHAINS = r"""
#include <sched.h>
alignas(16) static char stacks[256][8192];
static unsigned next = 0;
static int live(void*) {
  return clone(live, stacks[__sync_fetch_and_add(&next, 1) % 256] + 8192, CLONE_VM, nullptr) < 0;
}
extern "C" void start(int chains) {
  for (int i = 0; i < chains; ++i) live(nullptr);
}
"""


@pytest.fixture
def breeder(sandbox: Sandbox, tmp_path: Path) -> Iterator[ChildProcess]:
    """A child with processes whose only work is to start the next and end."""
    prepare = Prepare(target=Target.CPU, precision=Precision.HIGHEST, threads=1)
    tmp_path.chmod(0o711)
    source, library, model = tmp_path / "a.cpp", tmp_path / "a.so", tmp_path / "model_new.py"
    source.write_text(CHAINS)
    subprocess.run(["g++", "-shared", "-fPIC", "-O1", "-o", library, source], check=True)
    child = ChildProcess("cuda_agent.judge.runner", sandbox=sandbox, target=Target.CPU, folder=tmp_path)
    with child:
        child.ask(prepare, Prepared, timeout_s=120)
        model.write_text(f"import ctypes\nctypes.CDLL({str(child.hand_over(library))!r}).start(8)\n")
        folder = child.hand_over(model).parent
        child.ask(Load(folder=str(folder), library=None), Done, timeout_s=60)
        yield child


def test_processes_that_start_the_next_and_end_are_stopped_too(breeder: ChildProcess) -> None:
    breeder.stop()
    assert not [pid for pid in find_processes_below(breeder._process.running.pid) if is_moving(pid)]
    assert breeder.count_threads() > 8


def test_whoever_cannot_be_stopped_is_ended(breeder: ChildProcess, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "_STOP_ALL_S", 0.0)
    with pytest.raises(ChildError, match="faster than they can be stopped"):
        breeder.stop()
    assert breeder.is_gone()


def test_nobody_is_stopped_who_was_found_in_an_earlier_look_alone(sandbox: Sandbox, tmp_path: Path) -> None:
    """Its number may belong to another process of the machine by now."""
    prepare = Prepare(target=Target.CPU, precision=Precision.HIGHEST, threads=1)
    child = ChildProcess("cuda_agent.judge.runner", sandbox=sandbox, target=Target.CPU, folder=tmp_path)
    with child, subprocess.Popen(["sleep", "600"]) as other:
        child.ask(prepare, Prepared, timeout_s=120)
        child._started.add(other.pid)
        child.stop(looks_again=True)
        assert is_moving(other.pid)
        other.kill()


def test_a_child_is_given_what_the_document_says_and_no_more(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KMP_DUPLICATE_LIB_OK", "1")
    section = (repository / "docs" / "serving.md").read_text().split("## What children are given")[1]
    told = set(re.findall(r"`([A-Z][A-Z_]+)`", section.split("\n## ")[0]))
    for target in Target:
        for cache in (None, tmp_path):
            asked = wired_process._build_environment(target, 3) | _build_environment(target, cache=cache)
            given = build_environment(asked, home=tmp_path, gpu=target is Target.CUDA)
            assert given.keys() <= told
            assert {"OMP_NUM_THREADS", "PATH", "HOME"} <= given.keys()

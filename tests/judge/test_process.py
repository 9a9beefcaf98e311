"""A child stands still when it is told to, with everything it has started."""

import re
from pathlib import Path

import pytest

from cuda_agent.judge import wired_process
from cuda_agent.judge.census import find_processes_below
from cuda_agent.judge.policy import Precision
from cuda_agent.judge.process import ChildProcess, _build_environment
from cuda_agent.judge.protocol import Prepare
from cuda_agent.judge.replies import Prepared
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

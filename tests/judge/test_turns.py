"""Whoever is not asked stands still."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from cuda_agent.judge.census import find_processes_below, is_moving
from cuda_agent.judge.policy import Precision
from cuda_agent.judge.process import ChildProcess
from cuda_agent.judge.protocol import Prepare
from cuda_agent.judge.replies import Prepared
from cuda_agent.judge.turns import Turns
from cuda_agent.sandbox.protocol import Sandbox
from cuda_agent.tasks.target import Target


@pytest.fixture
def children(sandbox: Sandbox, tmp_path: Path) -> Iterator[tuple[ChildProcess, ChildProcess]]:
    prepare = Prepare(target=Target.CPU, precision=Precision.HIGHEST, threads=1)

    def start(program: str) -> ChildProcess:
        return ChildProcess(program, sandbox=sandbox, target=Target.CPU, folder=tmp_path)

    with start("cuda_agent.judge.reference") as one, start("cuda_agent.judge.runner") as other:
        for child in (one, other):
            child.ask(prepare, Prepared, timeout_s=120)
        yield one, other


def is_running(child: ChildProcess) -> bool:
    """Whether all of a child's processes run; none may be in between."""
    moving = {is_moving(pid) for pid in find_processes_below(child._process.running.pid)}
    assert len(moving) == 1
    return moving.pop()


def test_one_runs_at_a_time(children: tuple[ChildProcess, ChildProcess]) -> None:
    one, other = children
    turns = Turns(one, other, enforced=True)
    for running, standing in ((one, other), (other, one), (one, other)):
        turns.give(running)
        assert (is_running(running), is_running(standing)) == (True, False)
    turns.end()
    assert (is_running(one), is_running(other)) == (True, True)


def test_turns_that_are_not_enforced_stop_nobody(children: tuple[ChildProcess, ChildProcess]) -> None:
    one, other = children
    Turns(one, other, enforced=False).give(one, looks_again=True)
    assert (is_running(one), is_running(other)) == (True, True)

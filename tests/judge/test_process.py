"""A child stands still when it is told to, with everything it has started."""

from pathlib import Path

from cuda_agent.judge.census import find_processes_below
from cuda_agent.judge.policy import Precision
from cuda_agent.judge.process import ChildProcess
from cuda_agent.judge.protocol import Prepare
from cuda_agent.judge.replies import Prepared
from cuda_agent.sandbox.protocol import Sandbox
from cuda_agent.tasks.target import Target


def read_states(child: ChildProcess) -> set[str]:
    pids = find_processes_below(child._running.pid)
    assert pids
    return {Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] for pid in pids}


def test_a_stopped_child_stands_still_and_goes_on(sandbox: Sandbox, tmp_path: Path) -> None:
    prepare = Prepare(target=Target.CPU, precision=Precision.HIGHEST, threads=1)
    child = ChildProcess(
        "cuda_agent.judge.runner", sandbox=sandbox, target=Target.CPU, folder=tmp_path, cache=None
    )
    with child:
        child.ask(prepare, Prepared, timeout_s=120)
        child.stop()
        assert read_states(child) == {"T"}
        child.resume()
        assert "T" not in read_states(child)
        child.ask(prepare, Prepared, timeout_s=60)

"""The whole house on a CPU within a minute or so: task, workspace, tools, build, judge, reward, run folder.

A scripted agent works as a person would: it makes a slip that does not compile, one that is wrong, and
mends both.
"""

import json
import re
import time
from pathlib import Path

import pytest

from cuda_agent.agent.record import TRAJECTORIES
from cuda_agent.agent.trajectory import StopReason, Trajectory
from cuda_agent.cli.main import main
from cuda_agent.environment.result import Evaluation
from cuda_agent.rundir import read_records
from cuda_agent.tasks.task import Task

pytestmark = pytest.mark.timing

SCRIPT = Path(__file__).parent / "tiny.toml"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory, tiny_task: Task) -> tuple[Path, float]:
    """The folder of the finished run, and the seconds it took."""
    folder = tmp_path_factory.mktemp("tiny")
    (folder / "tiny.py").write_text(tiny_task.source)
    start_s = time.monotonic()
    status = main(
        [
            "run",
            str(folder / "tiny.py"),
            "--target",
            "cpu",
            "--policy",
            f"scripted:{SCRIPT}",
            "--out",
            str(folder / "run"),
        ]
    )
    assert status == 0
    return folder / "run", time.monotonic() - start_s


@pytest.fixture(scope="module")
def trajectory(run: tuple[Path, float]) -> Trajectory:
    """The one episode."""
    (only,) = read_records(run[0] / TRAJECTORIES, Trajectory)
    return only


def test_it_takes_about_a_minute_even_on_a_busy_machine(run: tuple[Path, float]) -> None:
    assert run[1] < 120.0


def test_the_agent_saw_what_happened_stage_by_stage(trajectory: Trajectory) -> None:
    seen = [turn.observations[-1].content if turn.observations else "" for turn in trajectory.turns]
    # Whether so small a task is flagged for its size is the clock's to say.
    seen = [re.sub(r"^task: flagged: too small .*\n", "", text, flags=re.MULTILINE) for text in seen]
    assert seen[0] == "model.py:13:        return torch.relu(x) * self.scale"
    assert seen[1].startswith("rules: ok\nbuild: compile_error: ")
    assert "kernels/scaled_relu.cpp:14" in seen[1]
    assert seen[1].endswith("[exit status 1]")
    assert re.match(r"rules: ok\nbuild: ok \(\d+\.\d s\)\nverify: mismatch: ", seen[2])
    assert re.match(r"rules: ok\nbuild: ok .*\nverify: ok \(5 draws, .*\)\nprofile: ok\n", seen[3])
    assert re.search(r"^reward if submitted: [123]$", seen[3], re.MULTILINE)
    assert re.search(r"^reward: [123]$", seen[4], re.MULTILINE)
    assert seen[5] == ""


def test_the_trajectory_says_how_it_ended(trajectory: Trajectory) -> None:
    assert trajectory.stop_reason is StopReason.FINISHED
    assert trajectory.policy == "scripted:tiny"
    (submission,) = trajectory.submissions
    assert submission.turn == 4
    assert trajectory.final == submission.evaluation
    assert trajectory.reward == submission.reward >= 1.0
    assert trajectory.final is not None
    assert trajectory.final.profile is not None
    assert trajectory.final.profile.candidate is not None
    assert len(trajectory.final.profile.candidate.calls_ms) > 10


def test_the_run_folder_holds_everything(run: tuple[Path, float], trajectory: Trajectory) -> None:
    folder, _ = run
    saved = json.loads((folder / "config.json").read_text())
    assert saved["config"]["tasks"][0]["name"] == "tiny"
    assert trajectory.final is not None
    submission = folder / "submissions" / trajectory.final.submission_sha
    assert "0.0f) * factor" in (submission / "kernels" / "scaled_relu.cpp").read_text()
    assert (submission / "model_new.py").is_file()
    evaluation = Evaluation.model_validate_json(
        (folder / "evaluations" / f"{trajectory.task_id}.json").read_text()
    )
    assert evaluation == trajectory.final
    assert list((folder / "live").iterdir()) == []


def test_a_finished_run_resumes_to_the_same_table(
    run: tuple[Path, float], capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", "--resume", str(run[0])]) == 0
    out = capfd.readouterr().out
    assert re.search(r"tiny .*verified", out)
    assert len(read_records(run[0] / TRAJECTORIES, Trajectory)) == 1


def test_the_submission_is_judged_alike_elsewhere(
    run: tuple[Path, float], trajectory: Trajectory, capfd: pytest.CaptureFixture[str]
) -> None:
    assert trajectory.final is not None
    submission = run[0] / "submissions" / trajectory.final.submission_sha
    task = run[0].parent / "tiny.py"
    assert main(["evaluate", str(task), str(submission), "--target", "cpu", "--json"]) == 0
    evaluation = Evaluation.model_validate_json(capfd.readouterr().out)
    assert evaluation.submission_sha == trajectory.final.submission_sha
    assert evaluation.failed_stage is None

"""The verb `show` finds episodes and prints them."""

from pathlib import Path

import pytest

from cuda_agent.agent.record import TRAJECTORIES
from cuda_agent.agent.trajectory import StopReason, Trajectory, Turn
from cuda_agent.cli.main import main
from cuda_agent.config import Config
from cuda_agent.llm.chat import Message, Reply, Role
from cuda_agent.rundir import RunDir
from cuda_agent.tasks.target import Target


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run with three episodes of two tasks."""
    with RunDir.create(tmp_path / "run", Config()) as opened:
        for task_id, episode in (("norm-1", 1), ("relu-2", 0), ("norm-1", 0)):
            opened.append(
                TRAJECTORIES,
                Trajectory(
                    task_id=task_id,
                    episode=episode,
                    target=Target.CPU,
                    policy="p",
                    prompt=(),
                    tools=(),
                    turns=(),
                    stop_reason=StopReason.FINISHED,
                ),
            )
    return tmp_path / "run"


def list_shown(out: str) -> list[str]:
    return [line.split(":")[0] for line in out.splitlines() if line.endswith(" on cpu")]


@pytest.mark.parametrize(
    ("options", "shown"),
    [
        ([], ["=== norm-1, episode 1", "=== norm-1, episode 2", "=== relu-2, episode 1"]),
        (["--task", "norm"], ["=== norm-1, episode 1", "=== norm-1, episode 2"]),
        (["--episode", "2"], ["=== norm-1, episode 2"]),
        (["--task", "relu", "--full"], ["=== relu-2, episode 1"]),
    ],
)
def test_chosen_episodes_in_order(
    run: Path, capfd: pytest.CaptureFixture[str], options: list[str], shown: list[str]
) -> None:
    assert main(["show", str(run), *options]) == 0
    assert list_shown(capfd.readouterr().out) == shown


def test_an_episode_that_was_interrupted_is_shown_too(run: Path, capfd: pytest.CaptureFixture[str]) -> None:
    message = Message(role=Role.ASSISTANT, content="hm")
    turn = Turn(reply=Reply(message=message), observations=(), seconds_model=0.0, seconds_tools=0.0)
    (run / "live").mkdir()
    (run / "live" / "relu-2-1.jsonl").write_text(turn.model_dump_json() + "\n")
    assert main(["show", str(run), "--task", "relu", "--episode", "2"]) == 0
    assert capfd.readouterr().out.splitlines() == [
        "=== relu-2-1: not finished, 1 turns so far",
        "--- turn 1: model 0.0 s, tools 0.0 s",
        "    hm",
    ]
    assert main(["show", str(run), "--task", "norm"]) == 0
    assert "not finished" not in capfd.readouterr().out


def test_what_is_not_there_is_wrong_use(run: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["show", str(run), "--episode", "3"]) == 2
    assert "finished are: norm-1 (1), norm-1 (2), relu-2 (1)" in capfd.readouterr().err
    assert main(["show", str(run / "nowhere")]) == 2
    assert "holds no run" in capfd.readouterr().err

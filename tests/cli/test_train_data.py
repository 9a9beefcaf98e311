"""Which episodes training finds in a place."""

from pathlib import Path

import pytest

from cuda_agent.agent.record import TRAJECTORIES
from cuda_agent.cli.train_data import load_trajectories
from cuda_agent.errors import UserError
from tests.rl.toy import build_trajectory


def write(path: Path, *names: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{build_trajectory(task_id=name).model_dump_json()}\n" for name in names))


def test_runs_files_and_rollouts(tmp_path: Path) -> None:
    write(tmp_path / "run" / TRAJECTORIES, "a", "b")
    write(tmp_path / "trained" / "rollouts" / "1f" / TRAJECTORIES, "c")
    write(tmp_path / "file.jsonl", "d")
    places = [tmp_path / name for name in ("run", "trained", "file.jsonl")]
    assert [trajectory.task_id for trajectory in load_trajectories(places)] == ["a", "b", "c", "d"]


def test_a_place_without_episodes_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=f"{tmp_path} holds no episodes"):
        load_trajectories([tmp_path])

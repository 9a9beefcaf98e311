"""`cuda-agent train verl`: what it prints, what it runs, and how it ends."""

import shlex
import sys
from pathlib import Path

import pytest

from cuda_agent.cli import train_verl
from cuda_agent.cli.train_verl import VerlOptions, train_on_verl
from cuda_agent.errors import ConfigError, InfrastructureError
from cuda_agent.rl.policy import choose_device, load_critic
from cuda_agent.rl.verl_adapter.launch import Launch, RftLaunch, ValueLaunch
from tests.rl.verl_adapter.tiny import write_tiny_policy
from tests.rl.verl_adapter.training import make_trajectories, write_tiny_scale


def write_run(folder: Path) -> Path:
    """A run's folder with eight episodes."""
    lines = [trajectory.model_dump_json() + "\n" for trajectory in make_trajectories(8)]
    (folder / "trajectories.jsonl").write_text("".join(lines))
    return folder


def build_rft(folder: Path) -> RftLaunch:
    scale = write_tiny_scale(folder)
    return RftLaunch(scale=str(scale), policy="policy", out=folder / "out", data=(write_run(folder),))


def test_show_prints_the_command_and_runs_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert train_on_verl(VerlOptions(stage=build_rft(tmp_path), show=True)) == 0
    (told,) = capsys.readouterr().out.splitlines()
    assert shlex.split(told)[:3] == [sys.executable, "-m", "torch.distributed.run"]
    assert f"trainer.default_local_dir={tmp_path / 'out'}" in shlex.split(told)


def test_another_verl_is_refused_before_anything_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse() -> None:
        raise ConfigError("verl 0.9.1 is needed, and none is installed")

    monkeypatch.setattr(train_verl, "check_verl", refuse)
    with pytest.raises(ConfigError, match="none is installed"):
        train_on_verl(VerlOptions(stage=build_rft(tmp_path)))
    assert not (tmp_path / "out").exists()


def test_a_trainer_that_fails_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    failing = Launch(
        (sys.executable, "-c", "import os, sys; sys.exit(int(os.environ['STATUS']))"), {"STATUS": "7"}
    )
    monkeypatch.setattr(train_verl, "check_verl", lambda: None)
    monkeypatch.setattr(train_verl, "prepare_rft", lambda stage, trajectories: failing)
    with pytest.raises(InfrastructureError, match=r"status 7.*the same command goes on from the newest"):
        train_on_verl(VerlOptions(stage=build_rft(tmp_path)))


@pytest.mark.verl
@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_a_critic_is_trained_from_a_runs_folder(tmp_path: Path) -> None:
    stage = ValueLaunch(
        scale=str(write_tiny_scale(tmp_path)),
        policy=str(write_tiny_policy(tmp_path)),
        out=tmp_path / "out",
        data=(write_run(tmp_path),),
        platform="cpu",
    )
    assert train_on_verl(VerlOptions(stage=stage)) == 0
    place = tmp_path / "out" / "global_step_2" / "huggingface"
    assert load_critic(str(place), device=choose_device("cpu")).config.num_labels == 1

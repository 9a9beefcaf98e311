"""A stage's configuration becomes a command and the files that it reads; nothing is run here."""

import json
from pathlib import Path

import pytest
import torch

from cuda_agent.agent.trajectory import StopReason
from cuda_agent.errors import ConfigError, UserError
from cuda_agent.rl.policy import load_critic, load_policy
from cuda_agent.rl.verl_adapter.launch import (
    Launch,
    PpoLaunch,
    RftLaunch,
    ValueLaunch,
    prepare_ppo,
    prepare_rft,
    prepare_value,
)
from cuda_agent.rl.verl_adapter.platform_cpu_environment import CPU_ENVIRONMENT
from cuda_agent.rl.verl_adapter.token_rows import read_token_rows
from cuda_agent.rl.verl_adapter.value import ValueStage
from cuda_agent.tasks.dataset import Row, write_dataset
from cuda_agent.tasks.target import Target
from cuda_agent.tasks.task import Task
from tests.rl.verl_adapter.tiny import write_tiny_critic, write_tiny_policy
from tests.rl.verl_adapter.training import make_trajectories, write_tiny_scale

CPU = torch.device("cpu")
pyarrow_parquet = pytest.importorskip("pyarrow.parquet")


def build_rft(folder: Path, *, nodes: int = 1, rendezvous: str = "") -> Launch:
    stage = RftLaunch(
        scale=str(write_tiny_scale(folder, nodes=nodes)),
        policy="policy",
        out=folder / "out",
        rendezvous=rendezvous,
        platform="cpu",
    )
    return prepare_rft(stage, make_trajectories(8))


def test_rft_learns_from_the_good_ones(tmp_path: Path) -> None:
    launch = build_rft(tmp_path)
    assert launch.env == CPU_ENVIRONMENT
    assert launch.command[1:6] == (
        "-m", "torch.distributed.run", "--nproc-per-node=1", "--standalone", "-m",
    )  # fmt: skip
    assert launch.command[6] == "cuda_agent.rl.verl_adapter.rft"
    train = tmp_path / "out" / "input" / "tokens.parquet"
    assert f"data.train_files={train}" in launch.command
    assert {sequence.reward for sequence in read_token_rows(train)} == {1.0, 2.0, 3.0}
    assert json.loads((train.parent / "filter.json").read_text())["rejected"] == {"reward": 2}


def test_several_nodes_meet_at_the_first(tmp_path: Path) -> None:
    launch = build_rft(tmp_path, nodes=2, rendezvous="head:29500")
    assert {"--nnodes=2", "--rdzv-backend=c10d", "--rdzv-endpoint=head:29500"} < set(launch.command)
    with pytest.raises(UserError, match="2 nodes train: give --rendezvous HOST:PORT"):
        build_rft(tmp_path, nodes=2)


def test_value_begins_with_the_policys_trunk(tmp_path: Path) -> None:
    policy = write_tiny_policy(tmp_path)
    stage = ValueLaunch(scale=str(write_tiny_scale(tmp_path)), policy=str(policy), out=tmp_path / "out")
    launch = prepare_value(stage, make_trajectories(8))
    assert launch.command[-2:] == ("cuda_agent.rl.verl_adapter.value", str(tmp_path / "out/input/stage.json"))
    value = ValueStage.model_validate_json(Path(launch.command[-1]).read_text())
    assert (value.tokenizer, value.settings.batch) == (str(policy), 4)
    assert len(read_token_rows(value.train)) == 8  # bad ones too
    critic = load_critic(value.critic, device=CPU)
    trunk = load_policy(str(policy), device=CPU).model.base_model
    assert all(
        (weight == critic.base_model.state_dict()[name]).all() for name, weight in trunk.state_dict().items()
    )
    unheld = {"stop_reason": StopReason.POLICY_ERROR, "stop_detail": "InfrastructureError: no memory"}
    failed = make_trajectories(1)[0].model_copy(update=unheld)
    prepare_value(stage, [*make_trajectories(8), failed])
    assert len(read_token_rows(value.train)) == 8  # nobody is taught by what the machine did
    prepare_value(stage, make_trajectories(8))  # again, as when it is resumed: the critic is the same
    again = load_critic(value.critic, device=CPU)
    assert all((weight == again.state_dict()[name]).all() for name, weight in critic.state_dict().items())


def build_ppo(folder: Path, *, task: Task, pool: str = "", split: str = "train") -> Launch:
    rows = [
        Row(ops=("relu",), data_source="torch#1", code=task.source, id=name, split=kind)
        for name, kind in (("a", split), ("b", "heldout"))
    ]
    write_dataset(folder / "data.parquet", rows)
    stage = PpoLaunch(
        scale=str(write_tiny_scale(folder)),
        policy=str(write_tiny_policy(folder)),
        critic=str(write_tiny_critic(folder)),
        tasks=folder / "data.parquet",
        out=folder / "o u't",
        pool=pool,
        target=Target.CPU,
    )
    return prepare_ppo(stage)


def test_ppo_has_tasks_for_training_and_its_pool(tiny_task: Task, tmp_path: Path) -> None:
    launch = build_ppo(tmp_path, task=tiny_task, pool="http://127.0.0.1:8321")
    assert launch.command[1:3] == ("-m", "verl.trainer.main_ppo")
    assert launch.env == {}
    folder = tmp_path / "o u't" / "input"
    rows = pyarrow_parquet.read_table(folder / "tasks.parquet").to_pylist()
    assert [row["extra_info"]["name"] for row in rows] == ["a"]
    yaml = pytest.importorskip("yaml")
    assert yaml.safe_load((folder / "agent_loop.yaml").read_text()) == [
        {
            "name": "cuda_agent",
            "_target_": "cuda_agent.rl.verl_adapter.agent_loop.CudaAgentLoop",
            "target": "cpu",
            "out": str(tmp_path / "o u't" / "rollouts"),
            "pool": "http://127.0.0.1:8321",
        }
    ]


def test_ppo_without_tasks_or_with_an_unknown_pool_is_refused(tiny_task: Task, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="has no rows for training"):
        build_ppo(tmp_path, task=tiny_task, split="validation")
    with pytest.raises(ConfigError, match="'judges' is no pool"):
        build_ppo(tmp_path, task=tiny_task, pool="judges")

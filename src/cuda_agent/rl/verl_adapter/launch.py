"""From one typed configuration a stage to a command that runs it, with the files that the command reads.

A stage's folder has what it was launched with, and its checkpoints; the same launch goes on from the newest.
"""

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import torch
import tyro

from cuda_agent.agent.trajectory import Trajectory
from cuda_agent.atomic import write_aside
from cuda_agent.config import Config
from cuda_agent.environment.elsewhere import RAY, open_pool
from cuda_agent.errors import UserError
from cuda_agent.rl.checkpoint import find_network
from cuda_agent.rl.config import RftConfig
from cuda_agent.rl.policy import build_critic, load_policy, save_network
from cuda_agent.rl.rft import filter_trajectories
from cuda_agent.rl.scale import Machines, load_scale
from cuda_agent.rl.value_pretraining import build_value_sequences
from cuda_agent.rl.verl_adapter.dataset import count_steps
from cuda_agent.rl.verl_adapter.episode import build_limits
from cuda_agent.rl.verl_adapter.overrides import AGENT_NAME, Places, build_ppo_overrides, build_rft_overrides
from cuda_agent.rl.verl_adapter.platform_cpu_environment import CPU_ENVIRONMENT
from cuda_agent.rl.verl_adapter.task_rows import write_task_rows
from cuda_agent.rl.verl_adapter.token_rows import write_token_rows
from cuda_agent.rl.verl_adapter.value import ValueStage
from cuda_agent.tasks.dataset import read_dataset
from cuda_agent.tasks.target import Target

ROOM = "cuda_agent.rl.verl_adapter"
AGENT_LOOP = "agent_loop.yaml"
STAGE = "stage.json"


@dataclass(frozen=True)
class Launch:
    """What runs a stage on this node."""

    command: tuple[str, ...]
    """The command and its arguments."""
    env: Mapping[str, str]
    """Variables that it needs beside those that are there."""


class StagePlaces(Config):
    """What all stages are given."""

    scale: str
    """A configuration that comes with the package (paper, one_node, two_gpus), or a TOML file like them."""
    policy: str
    """The policy: a run of the local trainer, a folder of transformers' (`huggingface` in a checkpoint of
    verl's), or a hub id."""
    out: Path
    """The stage's folder, which all nodes can read and write."""


class RanksLaunch(StagePlaces):
    """What the stages are given that torchrun starts on each node."""

    rendezvous: str = ""
    """HOST:PORT of the first node, where several train; then the same command is started on each."""
    platform: Literal["cuda", "cpu"] = "cuda"
    """What trains; `cpu` is for trying a stage out."""


class RftLaunch(RanksLaunch):
    """Fine-tune a policy on verl, on those of its own episodes that are good."""

    data: tyro.conf.Positional[tuple[Path, ...]] = ()
    """Runs with episodes of this policy, such as the folder `rollouts` of an earlier stage."""


class ValueLaunch(RanksLaunch):
    """Teach a critic on verl what a policy's episodes are worth."""

    data: tyro.conf.Positional[tuple[Path, ...]] = ()
    """Runs with episodes of this policy, good and bad ones."""
    critic: str = ""
    """A critic to go on from; without it one with the policy's trunk is made."""


class PpoLaunch(StagePlaces):
    """Improve a policy on verl by its own episodes."""

    tasks: tyro.conf.Positional[Path]
    """A data set of `cuda-agent synth`; its rows for training are used."""
    critic: str
    """The critic: a run of the local trainer, or `huggingface` in a value stage's checkpoint."""
    pool: str = ""
    """Who evaluates: ray:NAME (of `train pool NAME`), or a server's URL; without it each node itself."""
    target: Target = Target.CUDA
    """Where kernels run."""


AnyLaunch = (
    Annotated[RftLaunch, tyro.conf.subcommand("rft")]
    | Annotated[ValueLaunch, tyro.conf.subcommand("value")]
    | Annotated[PpoLaunch, tyro.conf.subcommand("ppo")]
)


def prepare_rft(stage: RftLaunch, trajectories: Sequence[Trajectory]) -> Launch:
    """Write the trajectories that pass the filter as tokens.

    Raises:
        UserError: fewer than a batch pass.
    """
    config = load_scale(stage.scale)
    sequences, counted = filter_trajectories(trajectories, RftConfig())
    folder = _lay_out(stage)
    (folder / "filter.json").write_text(counted.model_dump_json(indent=1) + "\n")
    places = Places(
        model=_find(stage.policy, "actor"), train=folder / "tokens.parquet", out=stage.out.absolute()
    )
    count_steps(len(sequences), config.rft.batch)
    write_token_rows(places.train, sequences)
    settings = build_rft_overrides(config, places)
    return _launch_ranks(stage, config.machines, module=f"{ROOM}.rft", arguments=settings)


def prepare_value(stage: ValueLaunch, trajectories: Sequence[Trajectory]) -> Launch:
    """Write trajectories as tokens, without those at fault, and a critic to begin with where none is given.

    Raises:
        UserError: a trajectory is no sequence of tokens, or the policy cannot be loaded.
    """
    config = load_scale(stage.scale)
    folder = _lay_out(stage)
    train, policy = folder / "tokens.parquet", _find(stage.policy, "actor")
    sequences = build_value_sequences(trajectories)
    count_steps(len(sequences), config.value.batch)
    write_token_rows(train, sequences)
    value = ValueStage(
        critic=_find(stage.critic, "critic") if stage.critic else _lay_critic(folder, policy),
        tokenizer=policy,
        train=train,
        out=stage.out.absolute(),
        settings=config.value,
        layout=config.layout,
        gamma=config.ppo.gamma,
        gae_lambda=config.ppo.gae_lambda,
    )
    (folder / STAGE).write_text(value.model_dump_json(indent=1))
    return _launch_ranks(stage, config.machines, module=f"{ROOM}.value", arguments=[str(folder / STAGE)])


def prepare_ppo(stage: PpoLaunch) -> Launch:
    """Write the tasks in verl's columns, and how episodes are held.

    Raises:
        UserError: there are no tasks for training, or no such pool.
    """
    config = load_scale(stage.scale)
    rows = [row for row in read_dataset(stage.tasks) if row.split in ("", "train")]
    if not rows:
        raise UserError(f"{stage.tasks} has no rows for training (split `train`, or none)")
    if stage.pool:
        open_pool(stage.pool)
    episode = config.episode
    limits = build_limits(
        turns=episode.turns,
        prompt_tokens=episode.prompt_tokens,
        response_tokens=episode.response_tokens,
    )
    folder = _lay_out(stage)
    write_task_rows(folder / "tasks.parquet", rows, target=stage.target, limits=limits)
    (folder / AGENT_LOOP).write_text(_render_agent_loop(stage))
    places = Places(
        model=_find(stage.policy, "actor"),
        critic=_find(stage.critic, "critic"),
        train=folder / "tasks.parquet",
        out=stage.out.absolute(),
        agent_loop=folder / AGENT_LOOP,
    )
    command = [sys.executable, "-m", "verl.trainer.main_ppo", *build_ppo_overrides(config, places)]
    has_cluster = config.machines.nodes > 1 or stage.pool.startswith(RAY)
    return Launch(tuple(command), {"RAY_ADDRESS": "auto"} if has_cluster else {})


def _lay_out(stage: StagePlaces) -> Path:
    folder = stage.out.absolute() / "input"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _find(place: str, name: str) -> str:
    """A network's folder in a run or checkpoint of the local trainer; any other place as it is."""
    return str(find_network(Path(place), name).absolute()) if Path(place).exists() else place


def _lay_critic(folder: Path, policy: str) -> str:
    """A critic with the policy's trunk; one that is there already is taken."""
    critic = folder / "critic"
    if not critic.exists():
        trunk = load_policy(policy, device=torch.device("cpu")).model
        with write_aside(critic) as aside:
            save_network(build_critic(trunk, seed=0), aside)
    return str(critic)


def _launch_ranks(stage: RanksLaunch, machines: Machines, *, module: str, arguments: Sequence[str]) -> Launch:
    if machines.nodes == 1:
        where = ["--standalone"]
    elif stage.rendezvous:
        where = [f"--nnodes={machines.nodes}", "--rdzv-backend=c10d", f"--rdzv-id={stage.out.name}"]
        where += [f"--rdzv-endpoint={stage.rendezvous}"]
    else:
        raise UserError(f"{machines.nodes} nodes train: give --rendezvous HOST:PORT, the first node's")
    ranks = [sys.executable, "-m", "torch.distributed.run", f"--nproc-per-node={machines.gpus_per_node}"]
    env = CPU_ENVIRONMENT if stage.platform == "cpu" else {}
    return Launch((*ranks, *where, "-m", module, *arguments), env)


def _render_agent_loop(stage: PpoLaunch) -> str:
    loop = {
        "name": AGENT_NAME,
        "_target_": f"{ROOM}.agent_loop.CudaAgentLoop",
        "target": stage.target.value,
        "out": str(stage.out.absolute() / "rollouts"),
        "pool": stage.pool,
    }
    return json.dumps([loop], indent=1) + "\n"  # JSON is YAML

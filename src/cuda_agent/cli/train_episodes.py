"""The stages that hold episodes themselves: PPO, and PPO on single answers."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import tyro

from cuda_agent.agent.episode import EpisodeConfig, EpisodeOptions
from cuda_agent.agent.prompt import PromptForm
from cuda_agent.cli.job_source import load_tasks
from cuda_agent.cli.target import choose_target
from cuda_agent.cli.train_data import load_trajectories
from cuda_agent.cli.train_supervised import (
    ImitateOptions,
    Place,
    RftOptions,
    ValueOptions,
    build_imitation,
    build_rft,
    build_value_pretraining,
    load_start,
)
from cuda_agent.errors import UserError
from cuda_agent.rl.checkpoint import find_network
from cuda_agent.rl.config import PpoConfig, SingleTurnConfig
from cuda_agent.rl.policy import build_critic, choose_device, load_critic
from cuda_agent.rl.ppo import Ppo
from cuda_agent.rl.rollout import EpisodeRollout, RolloutOptions
from cuda_agent.rl.single_turn import SingleTurn
from cuda_agent.rl.training import Stage
from cuda_agent.rundir import RunDir
from cuda_agent.sandbox.build import build_sandbox
from cuda_agent.tasks.target import Target
from cuda_agent.tasks.task import Task


class EpisodePlace(Place):
    """What episodes are of, who holds them and how."""

    tasks: tyro.conf.Positional[tuple[Path, ...]] = ()
    """Task files; of a data set FILE.parquet all tasks, FILE.parquet#train those of a split."""
    start: str | None = None
    """The policy to improve: a run, a folder or a hub id. Without RFT, an ablation: that before it."""
    critic_start: str | None = None
    """The critic that `train value` made: its run, or a folder."""
    value_pretraining: bool = True
    """Whether the critic is pretrained; --no-value-pretraining is the ablation, with a new head on the
    policy's trunk."""
    solved_in: tuple[Path, ...] = ()
    """Runs with episodes: only tasks that had a reward above 0 there are met. A task that nobody can do
    teaches nothing, and costs an evaluation each time."""
    target: Target | None = None
    """Where kernels run; without it cuda where a GPU and nvcc are, else cpu."""
    rollout: RolloutOptions = RolloutOptions()
    """How episodes are held at once."""


class PpoOptions(PpoConfig, EpisodePlace):
    """Improve a policy by its own episodes, of many turns each."""

    episode: EpisodeOptions = EpisodeOptions(prompt=PromptForm.BRIEF)
    """How an episode is held; who acts is the policy that is trained."""


class SingleTurnOptions(SingleTurnConfig, EpisodePlace):
    """Improve a policy by single answers: all files in one reply."""

    value_pretraining: bool = False
    """Whether the critic is pretrained; here it begins as a new head, as nothing is known yet."""
    episode: EpisodeOptions = EpisodeOptions(prompt=PromptForm.SINGLE)
    """How an answer is asked for and judged."""


TrainingOptions = (
    Annotated[ImitateOptions, tyro.conf.subcommand("imitate")]
    | Annotated[SingleTurnOptions, tyro.conf.subcommand("single-turn")]
    | Annotated[RftOptions, tyro.conf.subcommand("rft")]
    | Annotated[ValueOptions, tyro.conf.subcommand("value")]
    | Annotated[PpoOptions, tyro.conf.subcommand("ppo")]
)
"""Any stage's, by its name on the command line."""


def build_stage(options: TrainingOptions, run: RunDir) -> Stage:
    """The stage that is asked for, with its data and networks loaded.

    Raises:
        UserError: something is missing; says what and how to name it.
    """
    match options:
        case ImitateOptions():
            return build_imitation(options)
        case RftOptions():
            return build_rft(options, run)
        case ValueOptions():
            return build_value_pretraining(options)
        case _:
            return build_ppo(options, run)


def build_ppo(options: PpoOptions | SingleTurnOptions, run: RunDir) -> Ppo:
    """PPO with its policy, its critic, its tasks, and this machine's environment.

    Raises:
        UserError: something is missing; says what and how to name it.
    """
    if options.value_pretraining and not options.critic_start:
        raise UserError("no critic given: --critic-start RUN of train value, or --no-value-pretraining")
    policy = load_start(options.start, options)
    if options.value_pretraining:
        place = find_network(Path(str(options.critic_start)), "critic")
        critic = load_critic(str(place), device=choose_device(options.device))
    else:
        critic = build_critic(policy.model, seed=options.seed)
    episode = options.episode.model_dump() | {"target": choose_target(options.target)}
    rollout = EpisodeRollout(
        episode=EpisodeConfig.model_validate(episode),
        sandbox=build_sandbox(options.episode.sandbox),
        folder=run.path / "rollouts",
        options=options.rollout,
    )
    kind = SingleTurn if isinstance(options, SingleTurnOptions) else Ppo
    return kind(
        options,
        policy,
        critic=critic,
        tasks=choose_solved(load_tasks(options.tasks), options.solved_in),
        rollout=rollout,
    )


def choose_solved(tasks: Sequence[Task], runs: Sequence[Path]) -> list[Task]:
    """The tasks that had a reward above 0 in one of the runs; all of them when no run is named.

    Raises:
        UserError: none had, or a place holds no episodes.
    """
    if not runs:
        return list(tasks)
    solved = {trajectory.task_id for trajectory in load_trajectories(runs) if trajectory.reward > 0}
    chosen = [task for task in tasks if task.task_id in solved]
    if not chosen:
        raise UserError(f"none of {len(tasks)} tasks was solved in --solved-in: give other runs, or none")
    print(f"{len(chosen)} of {len(tasks)} tasks were solved before, and are met", flush=True)
    return chosen

"""`cuda-agent train verl`: a stage of training on many GPUs."""

import os
import shlex
import subprocess
from typing import Annotated

import tyro

from cuda_agent.cli.exit_code import ExitCode
from cuda_agent.cli.train_data import load_trajectories
from cuda_agent.config import Config
from cuda_agent.errors import InfrastructureError
from cuda_agent.rl.verl_adapter.launch import (
    AnyLaunch,
    Launch,
    PpoLaunch,
    RftLaunch,
    prepare_ppo,
    prepare_rft,
    prepare_value,
)
from cuda_agent.rl.verl_adapter.version import check_generator, check_verl


class VerlOptions(Config):
    """Run a stage of training on verl; the same command again goes on from its newest checkpoint."""

    stage: Annotated[AnyLaunch, tyro.conf.arg(name="")]
    """Which stage, and with what."""
    show: bool = False
    """Write the stage's input and print the command that would run, and run nothing."""


def train_on_verl(options: VerlOptions) -> int:
    """Prepare a stage's input, and run it.

    Raises:
        ConfigError: verl is not installed, or not the version that this is written for, or vllm is not.
        InfrastructureError: verl's trainer ended with an error.
    """
    if not options.show:
        check_verl()
        if isinstance(options.stage, PpoLaunch):
            check_generator()
    launch = _prepare(options)
    given = [f"{name}={value}" for name, value in launch.env.items()]
    print(shlex.join([*given, *launch.command]), flush=True)
    if options.show:
        return ExitCode.DONE
    status = subprocess.call(launch.command, env={**os.environ, **launch.env})
    if status:
        raise InfrastructureError(
            f"verl ended with status {status}, for the reason above; the same command goes on from the "
            f"newest checkpoint in {options.stage.out}"
        )
    print(f"done: checkpoints are in {options.stage.out}")
    return ExitCode.DONE


def _prepare(options: VerlOptions) -> Launch:
    stage = options.stage
    if isinstance(stage, PpoLaunch):
        return prepare_ppo(stage)
    trajectories = load_trajectories(stage.data)
    return (
        prepare_rft(stage, trajectories)
        if isinstance(stage, RftLaunch)
        else prepare_value(stage, trajectories)
    )

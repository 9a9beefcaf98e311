"""Train a policy to write kernels, in the paper's stages; each goes from saved data to a saved checkpoint.

1. `train imitate RUN` learns from an expert's episodes: a base model, made from nothing in minutes.
2. `train single-turn TASKS` improves it by PPO on single answers.
3. Its episodes are sampled: `cuda-agent run TASKS --policy local:CHECKPOINT --episodes 8`.
   `train rft RUN` fine-tunes the policy on the good ones, `train value RUN` teaches a critic on all of them.
4. `train ppo TASKS` improves the policy by its own episodes, with that critic.

On many machines: `train plan` tells what a run takes, `train verl STAGE` trains with verl, `train pool NAME`
evaluates for it (docs/scale.md).

A run's folder has curves (metrics.jsonl, tensorboard/), samples and checkpoints; their actor/ is a policy:
`--policy local:FOLDER`. `cuda-agent train STAGE --help` tells a stage's options.

Exit status: 0 done; 1 stopped, as training had collapsed; 2 wrong use; 3 the machine failed;
130 interrupted, resume with --resume.
"""

from typing import Annotated

import tyro

from cuda_agent.cli.console import build_console
from cuda_agent.cli.exit_code import ExitCode
from cuda_agent.cli.run_folder import open_run, tell_run
from cuda_agent.cli.train_episodes import TrainingOptions, build_stage
from cuda_agent.cli.train_progress import TrainingProgress
from cuda_agent.cli.train_scale import ScaleOptions, run_scale
from cuda_agent.config import Config
from cuda_agent.errors import UserError
from cuda_agent.rl.config import StageConfig, build_micro
from cuda_agent.rl.training import Stage, run_stage
from cuda_agent.rundir import RunDir


class TrainConfig(Config):
    """Which stage, and with what."""

    stage: Annotated[TrainingOptions | ScaleOptions, tyro.conf.arg(name="")]
    """The stage of training, or what it takes on many machines."""


def run_train(config: TrainConfig) -> int:
    """Train from where the run is to its last step, or to a collapse."""
    given = config.stage
    if not isinstance(given, StageConfig):
        return run_scale(given)
    options = build_micro(given) if given.micro else given
    asked = options.model_copy(update={"out": None, "resume": None})
    with open_run("train", asked, out=options.out, resume=options.resume) as run:
        stage = _build_stage(options, run)
        progress = TrainingProgress(build_console(), options.steps)
        end = run_stage(stage, run, observe=progress)
        if end.reason:
            print(f"stopped after {end.steps} steps: {end.reason}; its last checkpoint is kept")
            return ExitCode.NOT_VERIFIED
        print(f"done: {end.steps} steps; checkpoints and curves are in {run.path}")
    return ExitCode.DONE


def _build_stage(options: TrainingOptions, run: RunDir) -> Stage:
    """The stage; a run that could not begin leaves no folder."""
    try:
        stage = build_stage(options, run)
    except UserError:
        if not options.resume:
            run.discard()
        raise
    tell_run(run)
    return stage

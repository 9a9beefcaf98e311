"""The loop that all stages share: take a step, write down what came of it, save now and then, stop in time.

    config.json      what was asked; a run is only resumed with the same
    metrics.jsonl    one line a step, verl's names; the same curves in tensorboard/ where it is installed
    samples.jsonl    some of the episodes that a step met
    checkpoints/     see rl/checkpoint.py

A resumed run goes on from its newest checkpoint; lines of later steps are cut off, since they come again.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Protocol, TypeVar

from cuda_agent.agent.trajectory import Trajectory
from cuda_agent.config import Record
from cuda_agent.rl.checkpoint import restore_checkpoint, save_checkpoint
from cuda_agent.rl.collapse import find_broken
from cuda_agent.rl.config import StageConfig
from cuda_agent.rl.learner import Learner
from cuda_agent.rl.policy import Policy, save_network
from cuda_agent.rundir import RunDir

METRICS = "metrics.jsonl"
SAMPLES = "samples.jsonl"
SAMPLED_EPISODES = 4


class StepRecord(Record):
    """One line of `metrics.jsonl`."""

    step: int
    """Which, from 0."""
    seconds: float
    """Wall-clock seconds it took, saving left out."""
    metrics: dict[str, float]
    """Figures by verl's names."""


class SampleRecord(Record):
    """One line of `samples.jsonl`: an episode that a step met."""

    step: int
    """Which, from 0."""
    trajectory: Trajectory
    """What happened in it."""


@dataclass(frozen=True)
class Step:
    """What came of one step."""

    metrics: dict[str, float]
    """Figures by verl's names."""
    trajectories: Sequence[Trajectory] = ()
    """Episodes that it met; the first few are kept as samples."""


@dataclass(frozen=True)
class End:
    """How a stage ended."""

    steps: int
    """Steps taken in all, a resumed run's earlier ones included."""
    reason: str = ""
    """Why it stopped before its last step; empty when it did not."""


class Stage(Protocol):
    """What a stage of training is to the loop."""

    @property
    def config(self) -> StageConfig:
        """What it is asked to do."""
        ...

    @property
    def learners(self) -> Mapping[str, Learner]:
        """What learns, by the names of its folders in a checkpoint."""
        ...

    @property
    def policy(self) -> Policy | None:
        """The actor with its tokenizer, where the stage has one to save."""
        ...

    def take_step(self, step: int) -> Step:
        """Learn from one step's trajectories, which follow from `step` and the seed alone."""
        ...

    def find_stop(self, history: Sequence[Mapping[str, float]]) -> str:
        """Why to stop after these steps' figures; empty to go on."""
        ...


def run_stage(stage: Stage, run: RunDir, *, observe: Callable[[StepRecord], None]) -> End:
    """Take a stage's steps, from where the run was left to the last one or to a reason to stop.

    `observe` is told of each step. What was saved before a stop stays, and the stop's step is not saved.

    Raises:
        InfrastructureError: the disk refuses.
        UserError: the newest checkpoint cannot be used.
    """
    config = stage.config
    start = restore_checkpoint(run.path, stage.learners)
    history = [record.metrics for record in cut_off(run, METRICS, kind=StepRecord, start=start)]
    cut_off(run, SAMPLES, kind=SampleRecord, start=start)
    if reason := stage.find_stop(history):
        return End(start, reason)
    with _open_curves(run.path / "tensorboard", start=start) as curves:
        for step in range(start, config.steps):
            begin_s = time.monotonic()
            done = stage.take_step(step)
            record = StepRecord(step=step, seconds=time.monotonic() - begin_s, metrics=done.metrics)
            run.append(METRICS, record, is_forced=False)
            if step % config.show_every == 0:
                for trajectory in done.trajectories[:SAMPLED_EPISODES]:
                    sample = SampleRecord(step=step, trajectory=trajectory)
                    run.append(SAMPLES, sample, is_forced=False)
            _draw(curves, record)
            observe(record)
            history.append(done.metrics)
            if reason := stage.find_stop(history):
                return End(step + 1, reason)
            if (step + 1) % config.save_every == 0 or step + 1 == config.steps:
                _save(stage, run.path, steps=step + 1)
    return End(max(start, config.steps))


class SupervisedStage:
    """A stage with one network and no episodes of its own: it stops only where a gradient is not finite."""

    def __init__(
        self, config: StageConfig, learners: Mapping[str, Learner], *, policy: Policy | None
    ) -> None:
        self.config = config
        """What it is asked to do."""
        self.learners = learners
        """What learns."""
        self.policy = policy
        """The actor, where it is what learns."""

    def find_stop(self, history: Sequence[Mapping[str, float]]) -> str:
        """Only what is broken stops it."""
        return find_broken(history)


RecordT = TypeVar("RecordT", StepRecord, SampleRecord)


def cut_off(run: RunDir, name: str, *, kind: type[RecordT], start: int) -> list[RecordT]:
    """The records of the steps before `start`; later ones are removed from the file."""
    records = run.read(name, kind)
    kept = [record for record in records if record.step < start]
    if len(kept) < len(records):
        run.write_text(name, "".join(f"{record.model_dump_json()}\n" for record in kept))
    return kept


def _save(stage: Stage, run: Path, *, steps: int) -> None:
    writers: dict[str, Callable[[Path], None]] = {
        name: partial(save_network, learner.model) for name, learner in stage.learners.items()
    }
    if stage.policy is not None:
        writers["actor"] = stage.policy.save
    save_checkpoint(run, steps, writers=writers, learners=stage.learners, keep=stage.config.keep)


def _open_curves(folder: Path, *, start: int) -> AbstractContextManager[Any]:
    """TensorBoard's writer, which hides what a killed run wrote after its checkpoint; None without it."""
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:
        return nullcontext()
    return SummaryWriter(str(folder), purge_step=start)


def _draw(curves: Any, record: StepRecord) -> None:  # noqa: ANN401 - TensorBoard's writer, or None
    if curves is not None:
        for name, value in record.metrics.items():
            curves.add_scalar(name, value, record.step)
        curves.flush()

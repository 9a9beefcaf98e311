"""Many tasks, one episode each, resumable."""

import logging
from dataclasses import dataclass
from typing import Protocol

from cuda_agent.agent.episode import EpisodeConfig, run_episode
from cuda_agent.agent.record import TRAJECTORIES
from cuda_agent.agent.trajectory import Trajectory, Turn
from cuda_agent.config import Config
from cuda_agent.errors import InfrastructureError
from cuda_agent.llm.chat import ChatModel
from cuda_agent.rundir import RunDir
from cuda_agent.sandbox.protocol import Sandbox
from cuda_agent.tasks.task import Task

_logger = logging.getLogger(__name__)


class Job(Config):
    """Tasks, and how their episodes are held: all that a run depends on."""

    tasks: tuple[Task, ...]
    """The tasks, each once."""
    episode: EpisodeConfig
    """How each episode is held."""


class Observer(Protocol):
    """Whoever wants to see a job going on."""

    def begin(self, task: Task) -> None:
        """An episode begins."""
        ...

    def turn(self, turn: Turn) -> None:
        """A turn of it is over."""
        ...

    def end(self, trajectory: Trajectory) -> None:
        """It is over."""
        ...


@dataclass(frozen=True)
class JobResult:
    """What came of a job."""

    trajectories: tuple[Trajectory, ...]
    """One for each task that was finished, now or before a resume, in the job's order."""
    failures: dict[str, str]
    """The machine's failure by task id, for each task that it kept from being finished."""


def run_job(job: Job, *, chat: ChatModel, sandbox: Sandbox, run: RunDir, observer: Observer) -> JobResult:
    """Hold the episodes that the run does not hold yet, one after another."""
    done = {trajectory.task_id: trajectory for trajectory in run.read(TRAJECTORIES, Trajectory)}
    failures: dict[str, str] = {}
    for task in job.tasks:
        if task.task_id in done:
            continue
        observer.begin(task)
        try:
            trajectory = run_episode(
                task, chat=chat, config=job.episode, sandbox=sandbox, run=run, on_turn=observer.turn
            )
        except InfrastructureError as error:
            _logger.error("%s: %s", task.name, error)
            failures[task.task_id] = str(error)
        else:
            done[task.task_id] = trajectory
            observer.end(trajectory)
    return JobResult(tuple(done[task.task_id] for task in job.tasks if task.task_id in done), failures)

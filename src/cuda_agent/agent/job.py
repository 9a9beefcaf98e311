"""Many tasks, some episodes each, several at once, resumable."""

import logging
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import closing
from dataclasses import dataclass
from typing import Protocol

from pydantic import PositiveInt

from cuda_agent.agent.episode import EpisodeConfig, Host, run_episode
from cuda_agent.agent.interruption import Interruption
from cuda_agent.agent.outcome import JobOutcome, Outcome, summarise
from cuda_agent.agent.record import TRAJECTORIES
from cuda_agent.agent.results import Results
from cuda_agent.agent.trajectory import Trajectory, Turn
from cuda_agent.agent.verdicts import build_admission
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
    episodes: PositiveInt = 1
    """How many episodes each task has."""


@dataclass(frozen=True)
class Attempt:
    """One episode to hold."""

    task: Task
    """Its task."""
    number: int
    """Which of the task's episodes, from 0."""

    @property
    def key(self) -> tuple[str, int]:
        """What tells it from the job's others."""
        return self.task.task_id, self.number


class Observer(Protocol):
    """Whoever wants to see a job going on. Called from several threads, an attempt's calls in order."""

    def expect(self, *, done: int, total: int) -> None:
        """So many episodes there are, and so many were held before."""
        ...

    def begin(self, attempt: Attempt) -> None:
        """An episode begins."""
        ...

    def turn(self, attempt: Attempt, turn: Turn) -> None:
        """A turn of it is over."""
        ...

    def end(self, attempt: Attempt, outcome: Outcome | None) -> None:
        """It is over; without an outcome when the machine failed."""
        ...


@dataclass(frozen=True)
class Ended:
    """How one attempt ended."""

    attempt: Attempt
    """Which."""
    outcome: Outcome | None
    """What came of it; None when the machine failed."""
    failure: str
    """What failed."""


def run_job(
    job: Job, *, chat: ChatModel, sandbox: Sandbox, run: RunDir, observer: Observer, concurrency: int = 1
) -> JobOutcome:
    """Hold the episodes that the run does not hold yet, so many at once, every task's first ones first.

    An interruption ends those that go on, whose turns so far stay in the run; a resume begins them anew.
    """
    attempts = [Attempt(task, number) for number in range(job.episodes) for task in job.tasks]
    results = Results(
        run, [each.key for each in attempts], held=map(summarise, run.read(TRAJECTORIES, Trajectory))
    )
    missing = [attempt for attempt in attempts if attempt.key not in results]
    observer.expect(done=len(attempts) - len(missing), total=len(attempts))
    host = Host(
        chat=chat,
        config=job.episode,
        sandbox=sandbox,
        run=run,
        interruption=Interruption(),
        admission=build_admission(job.episode.verdicts),
    )
    try:
        # Closed at once when something is raised here, so that nobody works on for nothing.
        with closing(_hold_all(missing, host, observer=observer, concurrency=concurrency)) as endings:
            for ended in endings:
                if ended.outcome is None:
                    results.fail(ended.attempt.task.task_id, ended.failure)
                else:
                    results.add(ended.outcome)
    finally:
        result = results.finish()
    return result


def _hold_all(
    attempts: list[Attempt], host: Host, *, observer: Observer, concurrency: int
) -> Generator[Ended, None, None]:
    """Each attempt as it ends; whatever goes wrong here ends the others before it is told."""
    pool = ThreadPoolExecutor(concurrency, thread_name_prefix="episode")
    try:
        futures = [pool.submit(_hold, each, host, observer=observer) for each in attempts]
        for future in as_completed(futures):
            yield future.result()
    finally:
        host.interruption.set()
        pool.shutdown(cancel_futures=True)


def _hold(attempt: Attempt, host: Host, *, observer: Observer) -> Ended:
    observer.begin(attempt)
    outcome, failure = None, ""
    try:
        trajectory = run_episode(
            attempt.task, attempt.number, host=host, on_turn=lambda turn: observer.turn(attempt, turn)
        )
        outcome = summarise(trajectory)
    except InfrastructureError as error:
        _logger.error("%s: %s", attempt.task.name, error)
        failure = str(error)
    observer.end(attempt, outcome)
    return Ended(attempt, outcome, failure)

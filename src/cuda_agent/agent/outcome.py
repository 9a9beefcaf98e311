"""What came of a job's episodes, task by task."""

from collections.abc import Sequence

from cuda_agent.agent.estimators import compute_best_of_k, compute_pass_at_k, list_ks
from cuda_agent.agent.trajectory import StopReason, Trajectory
from cuda_agent.config import Record
from cuda_agent.environment.result import Evaluation
from cuda_agent.environment.reward import RewardKind, compute_reward
from cuda_agent.llm.chat import Usage


class Outcome(Record):
    """What came of one episode, without what happened in it."""

    task_id: str
    """The task's readable id."""
    episode: int
    """Which of the task's episodes, from 0."""
    stop_reason: StopReason
    """Why it ended."""
    stop_detail: str
    """The limit that was reached, or what went wrong."""
    turns: int
    """Replies of the model."""
    usage: Usage
    """Tokens of all its replies, as the model's server counted them, and what they cost."""
    submissions: int
    """Judged submissions."""
    final: Evaluation | None
    """The evaluation that counts; None when nothing was submitted."""
    reward: float
    """The episode's reward."""
    seconds: float
    """Wall-clock seconds of the whole episode."""

    @property
    def is_verified(self) -> bool:
        """Whether its evaluation went through every stage."""
        return is_verified(self.final)

    @property
    def is_task_at_fault(self) -> bool:
        """Whether nothing was found about what it submitted, because its task is not judged."""
        return self.final is not None and self.final.is_task_at_fault

    @property
    def rank(self) -> tuple[float, float]:
        """What makes one better than another: reward, then speed-up over the harder baseline there is."""
        return self.reward, -1.0 if self.final is None else compute_reward(self.final, RewardKind.SPEEDUP)


class TaskOutcome(Record):
    """What came of all of one task's episodes."""

    task_id: str
    """The task's readable id."""
    best: Outcome
    """The best episode's."""
    rewards: tuple[float, ...]
    """Every episode's reward, in order."""
    pass_at_k: dict[int, float]
    """By k: the chance that at least one of k episodes is verified, without those whose task is at fault."""
    best_of_k: dict[int, float]
    """By k: the highest reward to expect of k episodes, likewise."""


class JobOutcome(Record):
    """What came of a job; the whole of `results.json`."""

    schema_version: int = 1
    """Raised when a field changes meaning."""
    tasks: tuple[TaskOutcome, ...]
    """Tasks with at least one finished episode, in the job's order."""
    pass_at_k: dict[int, float]
    """By k: the mean over the tasks that have as many episodes."""
    best_of_k: dict[int, float]
    """By k: likewise."""
    usage: Usage
    """Tokens and cost of all episodes."""
    failures: dict[str, str] = {}
    """The machine's last failure by task id, where it kept an episode from being finished."""


def is_verified(evaluation: Evaluation | None) -> bool:
    """Whether an evaluation went through every stage."""
    return evaluation is not None and evaluation.failed_stage is None and evaluation.profile is not None


def summarise(trajectory: Trajectory) -> Outcome:
    """A trajectory's outcome."""
    return Outcome(
        task_id=trajectory.task_id,
        episode=trajectory.episode,
        stop_reason=trajectory.stop_reason,
        stop_detail=trajectory.stop_detail,
        turns=len(trajectory.turns),
        usage=sum((turn.reply.usage for turn in trajectory.turns), Usage()),
        submissions=len(trajectory.submissions),
        final=trajectory.final,
        reward=trajectory.reward,
        seconds=trajectory.seconds,
    )


def combine(outcomes: Sequence[Outcome], *, failures: dict[str, str]) -> JobOutcome:
    """A job's outcome from those of its episodes, tasks in order of appearance."""
    by_task: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        by_task.setdefault(outcome.task_id, []).append(outcome)
    tasks = tuple(map(_combine_task, by_task.values()))
    return JobOutcome(
        tasks=tasks,
        pass_at_k=_average([task.pass_at_k for task in tasks]),
        best_of_k=_average([task.best_of_k for task in tasks]),
        usage=sum((outcome.usage for outcome in outcomes), Usage()),
        failures=failures,
    )


def _combine_task(outcomes: list[Outcome]) -> TaskOutcome:
    outcomes = sorted(outcomes, key=lambda outcome: outcome.episode)
    judged = [outcome for outcome in outcomes if not outcome.is_task_at_fault]
    rewards = [outcome.reward for outcome in judged]
    tries, passed = len(judged), sum(outcome.is_verified for outcome in judged)
    return TaskOutcome(
        task_id=outcomes[0].task_id,
        best=max(outcomes, key=lambda outcome: outcome.rank),
        rewards=tuple(outcome.reward for outcome in outcomes),
        pass_at_k={k: compute_pass_at_k(tries=tries, passed=passed, k=k) for k in list_ks(tries)},
        best_of_k={k: compute_best_of_k(rewards, k) for k in list_ks(tries)},
    )


def _average(by_k: list[dict[int, float]]) -> dict[int, float]:
    ks = sorted({k for values in by_k for k in values})
    return {k: _mean([values[k] for values in by_k if k in values]) for k in ks}


def _mean(values: list[float]) -> float:
    return sum(values) / len(values)

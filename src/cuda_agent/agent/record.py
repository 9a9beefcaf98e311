"""An episode while it goes on, and the evaluation that counts in the end."""

import logging
import time
from collections.abc import Callable

from cuda_agent.agent.trajectory import SubmissionRecord, Trajectory, Turn
from cuda_agent.environment.environment import Environment, Judged
from cuda_agent.environment.result import Evaluation
from cuda_agent.environment.reward import RewardKind, compute_reward
from cuda_agent.errors import InfrastructureError
from cuda_agent.rundir import RunDir

TRAJECTORIES = "trajectories.jsonl"
"""Where a run keeps its finished episodes."""

_logger = logging.getLogger(__name__)


class EpisodeRecord:
    """The turns and submissions so far; each turn is on the disk as soon as it is over."""

    def __init__(self, environment: Environment, *, run: RunDir, on_turn: Callable[[Turn], None]) -> None:
        """`on_turn` gets each turn once it is kept."""
        self.turns: list[Turn] = []
        """The turns so far."""
        self.submissions: list[SubmissionRecord] = []
        """The judged submissions so far."""
        self._start_s = time.monotonic()
        self._environment = environment
        self._run = run
        self._on_turn = on_turn
        self._live = f"live/{environment.setting.task.task_id}.jsonl"
        run.remove(self._live)

    def add(self, turn: Turn) -> None:
        """Keep one turn, and what was submitted in it."""
        for judged in self._environment.submissions[len(self.submissions) :]:
            self.submissions.append(
                SubmissionRecord(
                    turn=len(self.turns),
                    sha=judged.submission.sha,
                    evaluation=judged.evaluation,
                    reward=self.compute_reward(judged.evaluation),
                )
            )
        self.turns.append(turn)
        self._run.append(self._live, turn)
        self._on_turn(turn)

    @property
    def seconds(self) -> float:
        """Wall-clock seconds since the episode began."""
        return time.monotonic() - self._start_s

    def compute_reward(self, evaluation: Evaluation | None) -> float:
        """The reward of an evaluation under the episode's judge policy; -1 without one."""
        if evaluation is None:
            return -1.0
        return compute_reward(evaluation, at_lower_bound=self._environment.setting.policy.at_lower_bound)

    def judge_finally(self, *, retries: int) -> Evaluation | None:
        """The evaluation that counts; None when nothing was submitted.

        The only submission's own counts as it is. Of several the best is judged once more, because the
        best of several measurements is biased, and that fresh evaluation counts.

        Raises:
            InfrastructureError: the machine failed at the last try too.
        """
        judged = self._environment.submissions[: len(self.submissions)]
        if not judged:
            return None
        if len(judged) == 1:
            return judged[0].evaluation
        best = max(judged, key=self._rank)
        for tried in range(retries):
            try:
                return self._environment.judge_again(best.submission)
            except InfrastructureError as error:
                _logger.warning("%s; judging again (%d of %d)", error, tried + 1, retries)
        return self._environment.judge_again(best.submission)

    def finish(self, trajectory: Trajectory) -> None:
        """Write the whole episode; the copy of its turns can go."""
        if trajectory.final is not None:
            text = trajectory.final.model_dump_json(indent=1)
            self._run.write_text(f"evaluations/{trajectory.task_id}.json", text)
        self._run.append(TRAJECTORIES, trajectory)
        self._run.remove(self._live)

    def _rank(self, judged: Judged) -> tuple[float, float]:
        """Reward, then speed-up over the harder baseline there is."""
        speedup = compute_reward(judged.evaluation, RewardKind.SPEEDUP)
        return self.compute_reward(judged.evaluation), speedup

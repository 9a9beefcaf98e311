"""An episode while it goes on, and the evaluation that counts in the end."""

import logging
import time
from collections.abc import Callable

from cuda_agent.agent.trajectory import SubmissionRecord, Trajectory, Turn
from cuda_agent.environment.environment import Environment, Judged
from cuda_agent.environment.result import Evaluation
from cuda_agent.environment.reward import RewardKind, compute_reward
from cuda_agent.environment.submission import Submission
from cuda_agent.errors import InfrastructureError
from cuda_agent.rundir import RunDir

TRAJECTORIES = "trajectories.jsonl"
"""Where a run keeps its finished episodes."""

LIVE = "live"
"""Where a run keeps the turns of episodes that are not finished: one file each, by task id and number."""

FINALISTS = 3
"""How many of an episode's submissions may be judged once more in the end."""

_logger = logging.getLogger(__name__)


class EpisodeRecord:
    """The turns and submissions so far; each turn is on the disk as soon as it is over."""

    def __init__(
        self, environment: Environment, number: int = 0, *, run: RunDir, on_turn: Callable[[Turn], None]
    ) -> None:
        """`number` tells the task's episodes apart; `on_turn` gets each turn once it is kept."""
        self.turns: list[Turn] = []
        """The turns so far."""
        self.submissions: list[SubmissionRecord] = []
        """The judged submissions so far."""
        self._start_s = time.monotonic()
        self._environment = environment
        self._run = run
        self._on_turn = on_turn
        self._live = f"{LIVE}/{environment.setting.task.task_id}-{number}.jsonl"
        run.remove(self._live)

    def add(self, turn: Turn) -> None:
        """Keep one turn, and what was submitted in it."""
        self.turns.append(turn)
        self._collect()
        self._run.append(self._live, turn, is_forced=False)
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
        best of several measurements is biased, and that fresh evaluation counts. Should it fail now, the
        next best has its turn; when all of at most `FINALISTS` fail, the best one's failure counts.

        Raises:
            InfrastructureError: the machine failed at the last try too.
        """
        # What a background command submitted after the last turn's end counts too.
        self._collect()
        judged = self._environment.submissions[: len(self.submissions)]
        if len(judged) < 2:
            return judged[0].evaluation if judged else None
        ranked = sorted(judged, key=self._rank, reverse=True)
        passed = [each for each in ranked if each.evaluation.failed_stage is None]
        finalists = {each.submission.sha: each.submission for each in passed or ranked[:1]}
        fresh: list[Evaluation] = []
        for submission in [*finalists.values()][:FINALISTS]:
            fresh.append(self._judge_again(submission, retries=retries))
            if fresh[-1].failed_stage is None:
                return fresh[-1]
        return fresh[0]

    def _collect(self) -> None:
        """Keep what was submitted since the last time, as of the last turn."""
        for judged in self._environment.submissions[len(self.submissions) :]:
            self.submissions.append(
                SubmissionRecord(
                    turn=max(0, len(self.turns) - 1),
                    sha=judged.submission.sha,
                    evaluation=judged.evaluation,
                    reward=self.compute_reward(judged.evaluation),
                )
            )

    def _judge_again(self, submission: Submission, *, retries: int) -> Evaluation:
        for tried in range(retries):
            try:
                return self._environment.judge_again(submission)
            except InfrastructureError as error:
                _logger.warning("%s; judging again (%d of %d)", error, tried + 1, retries)
        return self._environment.judge_again(submission)

    def finish(self, trajectory: Trajectory) -> None:
        """Write the whole episode; the copy of its turns can go."""
        self._run.append(TRAJECTORIES, trajectory)
        self._run.remove(self._live)

    def _rank(self, judged: Judged) -> tuple[float, float]:
        """Reward, then speed-up over the harder baseline there is."""
        speedup = compute_reward(judged.evaluation, RewardKind.SPEEDUP)
        return self.compute_reward(judged.evaluation), speedup

"""PPO on whole episodes: sample, value, improve, until the last step or a collapse."""

import time
from collections.abc import Mapping, Sequence
from typing import Protocol

import torch
from transformers import PreTrainedModel

from cuda_agent.agent.trajectory import StopReason, Trajectory
from cuda_agent.environment.reward import RewardKind, compute_reward
from cuda_agent.errors import UserError
from cuda_agent.llm.chat import FinishReason
from cuda_agent.rl.batch import build_batch, build_sequence
from cuda_agent.rl.collapse import find_collapse
from cuda_agent.rl.config import PpoConfig
from cuda_agent.rl.diagnostics import measure_episodes
from cuda_agent.rl.learner import Learner
from cuda_agent.rl.order import choose_rows, derive_seed
from cuda_agent.rl.policy import Policy, choose_device
from cuda_agent.rl.training import Step
from cuda_agent.rl.update import update
from cuda_agent.tasks.task import Task


class Rollout(Protocol):
    """Holds episodes: the trainer knows nothing of the environment, and the environment nothing of it."""

    def __call__(self, policy: Policy, tasks: Sequence[Task], *, seed: int) -> list[Trajectory]:
        """One episode for each of `tasks`, which may name a task several times.

        Each turn holds the tokens as read and sampled. What is sampled follows from `seed`, as far as the
        environment's answers do.
        """
        ...


class Ppo:
    """Improves an actor by its own episodes, with a critic that improves beside it."""

    def __init__(
        self,
        config: PpoConfig,
        policy: Policy,
        *,
        critic: PreTrainedModel,
        tasks: Sequence[Task],
        rollout: Rollout,
    ) -> None:
        """`tasks` are met in an order that follows from the seed, each `config.episodes` times a step.

        Raises:
            UserError: there is no task.
        """
        if not tasks:
            raise UserError("PPO needs a task at least; give a data set or task files")
        self.config = config
        """What it is asked to do."""
        self.policy = policy
        """The actor that is improved."""
        self.learners: Mapping[str, Learner] = {
            "actor": Learner(policy.model, config.actor),
            "critic": Learner(critic, config.critic),
        }
        """Both networks."""
        self._tasks = tasks
        self._rollout = rollout
        self._device = choose_device(config.device)

    def take_step(self, step: int) -> Step:
        """Hold a step's episodes and learn from them."""
        begin_s = time.monotonic()
        trajectories = self._rollout(
            self.policy, self._choose_tasks(step), seed=derive_seed("rollout", self.config.seed, step)
        )
        sampled_s = time.monotonic()
        self._check(trajectories)
        trajectories = [reward_again(trajectory, self.config.reward) for trajectory in trajectories]
        batch = build_batch([build_sequence(trajectory) for trajectory in trajectories]).to(self._device)
        metrics = update(
            self.learners["actor"], self.learners["critic"], batch=batch, config=self.config, step=step
        )
        is_cut_B = torch.tensor([is_cut(trajectory) for trajectory in trajectories])
        turns = [len(trajectory.turns) for trajectory in trajectories]
        return Step(
            {
                **metrics,
                **measure_episodes(batch.rewards_BT, batch.is_generated_BT, is_cut_B=is_cut_B),
                "critic/rewards/mean": sum(t.reward for t in trajectories) / len(trajectories),
                "num_turns/mean": sum(turns) / len(turns),
                **measure_outcomes(trajectories),
                "timing_s/gen": sampled_s - begin_s,
                "timing_s/update": time.monotonic() - sampled_s,
            },
            trajectories,
        )

    def find_stop(self, history: Sequence[Mapping[str, float]]) -> str:
        """Whether training has collapsed."""
        return find_collapse(history, self.config.collapse)

    def _choose_tasks(self, step: int) -> list[Task]:
        count = max(1, self.config.batch // self.config.episodes)
        rows = choose_rows(len(self._tasks), count, step=step, seed=self.config.seed)
        return [self._tasks[row] for row in rows for _ in range(self.config.episodes)]

    def _check(self, trajectories: Sequence[Trajectory]) -> None:
        """What a rollout must have brought.

        Raises:
            UserError: it brought nothing.
        """
        if not any(trajectory.turns for trajectory in trajectories):
            raise UserError(
                "the rollout held no episode with a reply, so there is nothing to learn from; "
                "its folder in rollouts/ tells what became of them"
            )


def reward_again(trajectory: Trajectory, kind: RewardKind) -> Trajectory:
    """The same episode, rewarded in another way; one that handed nothing in keeps what it has."""
    if trajectory.final is None:
        return trajectory
    return trajectory.model_copy(update={"reward": compute_reward(trajectory.final, kind)})


def measure_outcomes(trajectories: Sequence[Trajectory]) -> dict[str, float]:
    """Shares of the episodes whose last submission is right, and faster than eager and torch.compile both.

    By the milestones, whatever is rewarded.
    """
    finals = [trajectory.final for trajectory in trajectories]
    milestones = [compute_reward(final) if final else -1.0 for final in finals]
    return {
        "reward/pass_rate": sum(milestone > 0 for milestone in milestones) / len(milestones),
        "reward/faster_rate": sum(milestone >= 3 for milestone in milestones) / len(milestones),
    }


def is_cut(trajectory: Trajectory) -> bool:
    """Whether an episode's length ended it: its tokens, its turns, or those of its last reply."""
    is_last_cut = any(turn.reply.finish_reason is FinishReason.LENGTH for turn in trajectory.turns[-1:])
    return is_last_cut or trajectory.stop_reason in (StopReason.MAX_TOKENS, StopReason.MAX_TURNS)

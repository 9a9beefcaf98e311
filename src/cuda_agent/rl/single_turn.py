"""PPO on single answers: a task goes in, one reply with all files comes out, and its reward.

It warms a base model up before episodes of many turns are sampled from it. The update is PPO's own.
"""

from collections.abc import Sequence

from cuda_agent.agent.trajectory import Trajectory
from cuda_agent.errors import UserError
from cuda_agent.rl.ppo import Ppo


class SingleTurn(Ppo):
    """PPO whose episodes have one reply each."""

    def _check(self, trajectories: Sequence[Trajectory]) -> None:
        super()._check(trajectories)
        longest = max(trajectories, key=lambda trajectory: len(trajectory.turns))
        if len(longest.turns) > 1:
            raise UserError(
                f"{longest.task_id}: an episode of {len(longest.turns)} turns, and a single answer has one; "
                "use train ppo for episodes"
            )

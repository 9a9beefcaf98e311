"""One number from an Evaluation.

The milestones are the paper's (section on the reward): -1 when a check fails, 3 when faster than
eager and torch.compile by more than 5 %, 2 when faster than eager by more than 5 %, 1 otherwise. Where the
task is at fault nothing was found about the submission: 0, which counts neither for nor against it.
"""

import math
from enum import StrEnum

from cuda_agent.environment.result import Evaluation
from cuda_agent.judge.result import ProfileStatus, Ratio


class RewardKind(StrEnum):
    """Which reward."""

    MILESTONE = "milestone"
    """-1, 1, 2 or 3."""
    SPEEDUP = "speedup"
    """The paper's ablation: the raw speed-up over torch.compile, -1 on failure."""


TASK_AT_FAULT = 0.0
"""What a submission earns where its task is not judged."""
MARGIN = 0.05
"""A time t beats t0 when (t0 - t) / t0 is strictly above this."""


def is_faster(t0_over_t: float, margin: float = MARGIN) -> bool:
    """Whether (t0 - t) / t0 > margin, given the ratio t0 / t.

    Raises:
        ValueError: the ratio is not a positive finite number.
    """
    if not (math.isfinite(t0_over_t) and t0_over_t > 0):
        raise ValueError(f"a time ratio must be positive and finite, got {t0_over_t}")
    return 1.0 - 1.0 / t0_over_t > margin


def compute_milestone(over_eager: float, over_compiled: float | None) -> int:
    """The milestone of a correct submission from its two speed-ups.

    Where torch.compile cannot run the reference there is nothing to beat, and eager decides.
    """
    beats_eager = is_faster(over_eager)
    beats_compiled = over_compiled is None or is_faster(over_compiled)
    if beats_eager and beats_compiled:
        return 3
    return 2 if beats_eager else 1


def compute_reward(
    evaluation: Evaluation, kind: RewardKind = RewardKind.MILESTONE, *, at_lower_bound: bool = True
) -> float:
    """The reward of a whole evaluation; total over every status.

    `at_lower_bound` judges a speed-up by the lower end of its interval (policy `strict`); otherwise
    by the point estimate (policy `paper`).
    """
    if evaluation.is_task_at_fault:
        return TASK_AT_FAULT
    profile = evaluation.profile
    if evaluation.failed_stage is not None or profile is None or profile.status is not ProfileStatus.OK:
        return -1.0
    assert profile.over_eager is not None
    if kind is RewardKind.SPEEDUP:
        return (profile.over_compiled or profile.over_eager).point

    def pick(ratio: Ratio) -> float:
        return ratio.low if at_lower_bound else ratio.point

    over_compiled = pick(profile.over_compiled) if profile.over_compiled else None
    return float(compute_milestone(pick(profile.over_eager), over_compiled))

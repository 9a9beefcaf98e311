"""The page of the reward: try times, see the number and why, and how noise moves it."""

from collections.abc import Iterator
from typing import Any

from cuda_agent.environment.result import Evaluation
from cuda_agent.environment.reward import MARGIN, RewardKind, compute_reward
from cuda_agent.judge.policy import load_policy
from cuda_agent.report.material import Material
from cuda_agent.report.page import Page

SHOWN_DOTS = 500
"""How many measured submissions the plane shows."""


def build_reward_page(material: Material) -> Page:
    """The plane of both ratios with the measured submissions in it; the rest is computed in the page."""
    dots = [dot for run, each in iterate_evaluations(material) if (dot := _place(run, each)) is not None]
    missing = () if dots else ("No timed submission was found, so the plane has no dots.",)
    return Page(
        name="reward",
        template="reward",
        title="The reward",
        lead="One number at the end of an episode: wrong, right, faster than eager, faster than both.",
        data={"margin": MARGIN, "dots": dots[:SHOWN_DOTS]},
        missing=missing,
    )


def iterate_evaluations(material: Material) -> Iterator[tuple[str, Evaluation]]:
    """Every evaluation that counts, with where it was found."""
    for found in material.episodes:
        if found.trajectory.final is not None:
            yield found.run, found.trajectory.final
    for kept in material.evaluations:
        yield kept.run, kept.evaluation


def _place(run: str, evaluation: Evaluation) -> dict[str, Any] | None:
    profile = evaluation.profile
    if profile is None or evaluation.failed_stage is not None or profile.over_eager is None:
        return None
    over_compiled = profile.over_compiled or profile.over_eager
    at_lower_bound = load_policy(evaluation.policy).at_lower_bound
    return {
        "task": evaluation.task_id,
        "run": run,
        "over_eager": profile.over_eager.point,
        "over_compiled": over_compiled.point,
        "low_eager": profile.over_eager.low,
        "low_compiled": over_compiled.low,
        "reward": compute_reward(evaluation, at_lower_bound=at_lower_bound),
        "speedup": compute_reward(evaluation, RewardKind.SPEEDUP),
    }

"""Has training collapsed? The paper's first trial held 17 steps; who stops in time keeps the weights."""

import math
from collections.abc import Mapping, Sequence

from cuda_agent.rl.config import CollapseConfig

REWARD = "critic/rewards/mean"
ENTROPY = "actor/entropy"
RATIO = "actor/ratio_max"
EXPLAINED_VARIANCE = "critic/vf_explained_var"
GRADIENTS = ("actor/grad_norm", "critic/grad_norm", "train/grad_norm")


def find_collapse(history: Sequence[Mapping[str, float]], config: CollapseConfig) -> str:
    """Why training has to stop after these steps; empty when it may go on."""
    if reason := find_broken(history):
        return reason
    if len(history) < 2 * config.window:
        return ""
    last = history[-config.window :]
    reward, best = _mean(last, REWARD), _find_best(history, window=config.window)
    if reward < best - config.reward_drop:
        return f"the mean reward fell from {best:.3f} to {reward:.3f} (limit: {config.reward_drop:g} lower)"
    entropy, first = _mean(last, ENTROPY), _mean(history[: config.window], ENTROPY)
    if entropy < config.entropy_floor:
        return f"the entropy is {entropy:.2g} nats a token (limit: {config.entropy_floor:g})"
    if entropy > config.entropy_rise * first:
        return f"the entropy rose from {first:.3g} to {entropy:.3g} (limit: {config.entropy_rise:g} times)"
    ratio = min(step.get(RATIO, math.nan) for step in last)
    if ratio > config.ratio:
        return f"{len(last)} updates in a row had a ratio of {ratio:.3g} or more (limit: {config.ratio:g})"
    explained = _mean(last, EXPLAINED_VARIANCE)
    if explained < config.explained_variance:
        return f"the critic's explained variance is {explained:.3g} (limit: {config.explained_variance:g})"
    return ""


def find_broken(history: Sequence[Mapping[str, float]]) -> str:
    """Whether the last step's gradient was none; empty when it was finite."""
    for name in GRADIENTS:
        norm = history[-1].get(name, 0.0) if history else 0.0
        if not math.isfinite(norm):
            return f"{name} is {norm}: a loss or a weight is not finite"
    return ""


def _find_best(history: Sequence[Mapping[str, float]], *, window: int) -> float:
    return max(_mean(history[end - window : end], REWARD) for end in range(window, len(history) + 1))


def _mean(steps: Sequence[Mapping[str, float]], name: str) -> float:
    """Over the steps that have the figure; NaN, which is beyond no limit, when none has."""
    values = [step[name] for step in steps if math.isfinite(step.get(name, math.nan))]
    return sum(values) / len(values) if values else math.nan

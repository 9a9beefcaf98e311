"""How large a task's batch is, so that its eager time falls into the window.

By a model of the machine, not by a clock: the same seed gives the same tasks on every machine. What the
model misjudges, the window's filter drops.
"""

import math
from dataclasses import dataclass, replace

from cuda_agent.synthesis.plan import Plan
from cuda_agent.synthesis.trial import Trial, TrialError, run_trial
from cuda_agent.synthesis.write import write_source
from cuda_agent.tasks.target import Target


@dataclass(frozen=True)
class Machine:
    """A machine of the kind that a target stands for."""

    gb_per_s: float
    """What eager operations read and write."""
    gflop_per_s: float
    """What matrix products reach in float32."""
    goals: tuple[float, float]
    """Sizes aim at times between so often the shortest and that share of the longest that are kept."""


MACHINES = {
    Target.CPU: Machine(gb_per_s=6.0, gflop_per_s=60.0, goals=(3.0, 0.4)),
    # Longer ones would take more memory than they are allowed; a clock is better foreseen here.
    Target.CUDA: Machine(gb_per_s=2500.0, gflop_per_s=30_000.0, goals=(2.0, 0.2)),
}

_LARGEST = 1 << 20
_HELD_SHARE = 0.5
"""Share of a device's memory that a task may hold, judge and kernels need the rest."""


def estimate_ms(trial: Trial, machine: Machine) -> float:
    """Eager time by the machine's two rates."""
    return trial.moved_bytes / machine.gb_per_s / 1e6 + trial.flops / machine.gflop_per_s / 1e6


def resize(plan: Plan, *, goal_ms: float, memory_bytes: float, machine: Machine) -> tuple[Plan, Trial]:
    """The plan with the batch that brings it nearest to the goal, and its trial.

    Raises:
        TrialError: no batch does, within the memory.
    """
    batch = plan.steps[0].shape[0]
    small, large = (rebatch(plan, batch * factor)[1] for factor in (1, 2))
    slope = (estimate_ms(large, machine) - estimate_ms(small, machine)) / batch
    fixed = estimate_ms(small, machine) - slope * batch
    held = max((large.held_bytes - small.held_bytes) / batch, 1.0)
    if slope <= 0.0:
        raise TrialError("its time does not grow with the batch")
    wished = min((goal_ms - fixed) / slope, _HELD_SHARE * memory_bytes / held, _LARGEST)
    resized, trial = rebatch(plan, round_batch(wished))
    if trial.held_bytes > _HELD_SHARE * memory_bytes:
        raise TrialError("it does not fit into the memory")
    return resized, trial


def round_batch(wished: float) -> int:
    """A size that people choose: a power of two, or three times one, at most the wished one (but one)."""
    if wished < 2.0:
        return 1
    power = 1 << int(math.log2(wished))
    return power * 3 // 2 if power * 1.5 <= wished else power


def rebatch(plan: Plan, batch: int) -> tuple[Plan, Trial]:
    """The plan with another batch.

    Raises:
        TrialError: some step does not bear it.
    """
    return reshape(plan, (batch, *plan.steps[0].shape[1:]))


def reshape(plan: Plan, shape: tuple[int, ...]) -> tuple[Plan, Trial]:
    """The plan with another first shape: every further one follows from a trial of what comes before it.

    Raises:
        TrialError: some step does not bear it.
    """
    part = replace(plan, steps=(replace(plan.steps[0], shape=shape),))
    trial = run_trial(write_source(part))
    for step in plan.steps[1:]:
        part = replace(part, steps=(*part.steps, replace(step, shape=trial.shape)))
        trial = run_trial(write_source(part))
    return part, trial

"""Operators drawn, put in sequence or joined, and written as one program whose shapes fit."""

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import replace

from cuda_agent.errors import UserError
from cuda_agent.synthesis.candidate import Candidate
from cuda_agent.synthesis.fate import Fate
from cuda_agent.synthesis.operator import Operator
from cuda_agent.synthesis.plan import Join, Plan, accepts
from cuda_agent.synthesis.recipe import Recipe
from cuda_agent.synthesis.sampling import sample_first_step, sample_shape, sample_step
from cuda_agent.synthesis.size import MACHINES, estimate_ms, reshape, resize
from cuda_agent.synthesis.trial import Trial, TrialError, run_trial
from cuda_agent.synthesis.write import write_source

_TRIES = 200
_STEP_TRIES = 12
_LEAST_ELEMENTS = 4096
"""What lies between two operators has at least so many: smaller tensors are latency alone."""


def compose(operators: Sequence[Operator], recipe: Recipe, *, number: int) -> Candidate:
    """Candidate `number` of the recipe's seed: the same for the same operators, whenever it is made."""
    base, member = divmod(number, recipe.family_size)
    generator = random.Random(f"{recipe.seed}/{base}")
    library, count = draw_kind(operators, recipe, generator=generator)
    pool = [operator for operator in operators if operator.package == library]
    for _ in range(_TRIES):
        try:
            plan = _draw_plan(pool, count, generator=generator, join_share=recipe.join_share)
            plan = _fit(plan, recipe, generator=generator)
        except TrialError:
            continue
        plan = replace(plan, precision=recipe.precisions[member // recipe.shapes])
        if shape := member % recipe.shapes:
            plan = _vary(plan, recipe, generator=random.Random(f"{recipe.seed}/{base}/{shape}"))
        return _write(plan, recipe, number=number)
    raise AssertionError(f"no {count} operators of {library} fit together in {_TRIES} draws")


def choose_operators(operators: Sequence[Operator], names: Sequence[str]) -> tuple[Operator, ...]:
    """Those of these names; all when none is named.

    Raises:
        UserError: there is none of some name.
    """
    if not names:
        return tuple(operators)
    unknown = sorted(set(names) - {operator.name for operator in operators})
    if unknown:
        raise UserError(f"no operator is called {', '.join(unknown)}: names are full ones, such as torch.exp")
    return tuple(operator for operator in operators if operator.name in names)


def build_composer(operators: Sequence[Operator], recipe: Recipe) -> Callable[[int], Fate]:
    """What gives each candidate by its number."""
    return lambda number: Fate(candidate=compose(operators, recipe, number=number))


def draw_kind(operators: Sequence[Operator], recipe: Recipe, *, generator: random.Random) -> tuple[str, int]:
    """From which library, and how many."""
    libraries = {operator.package for operator in operators}
    draw = generator.random()
    if draw < recipe.transformers_share and "transformers" in libraries:
        return "transformers", 1
    counts = range(1, len(recipe.operator_shares) + 1)
    return "torch", generator.choices(counts, weights=recipe.operator_shares)[0]


def _draw_plan(pool: list[Operator], count: int, *, generator: random.Random, join_share: float) -> Plan:
    plan = Plan(steps=(sample_first_step(generator.choice(pool), generator),))
    trial = run_trial(write_source(plan))
    for _ in range(count - 1):
        plan, trial = _extend(plan, trial, pool=pool, generator=generator, join_share=join_share)
    if trial.is_random:
        raise TrialError("random")
    return plan


def _extend(
    plan: Plan, trial: Trial, *, pool: list[Operator], generator: random.Random, join_share: float
) -> tuple[Plan, Trial]:
    """The plan with one more operator that fits behind the others."""
    if not trial.is_floating or math.prod(trial.shape) < _LEAST_ELEMENTS:
        raise TrialError("nothing can follow")
    last = plan.steps[-1]
    fitting = [o for o in pool if accepts(o.layout, trial.shape) and o.name != last.operator.name]
    for _ in range(_STEP_TRIES):
        step = sample_step(generator.choice(fitting), generator, shape=trial.shape)
        if generator.random() < join_share:
            joins = (Join.RESIDUAL, Join.GATE, Join.BRANCH)[: 3 if last.join is Join.SEQUENCE else 2]
            step = replace(step, join=generator.choice(joins))
        try:
            longer = Plan(steps=(*plan.steps, step))
            after = run_trial(write_source(longer))
        except TrialError:
            continue
        if step.join is Join.SEQUENCE or (after.shape == trial.shape == last.shape and after.is_floating):
            return longer, after
    raise TrialError("nothing fits")


def _fit(plan: Plan, recipe: Recipe, *, generator: random.Random) -> Plan:
    machine = MACHINES[recipe.target]
    low, high = recipe.shortest_ms * machine.goals[0], recipe.longest_ms * machine.goals[1]
    goal_ms = math.exp(generator.uniform(math.log(low), math.log(high)))
    fitted, trial = resize(plan, goal_ms=goal_ms, memory_bytes=recipe.memory_gb * 1e9, machine=machine)
    if not recipe.shortest_ms <= estimate_ms(trial, machine) <= recipe.longest_ms:
        raise TrialError("its time is outside the window")
    return fitted


def _vary(plan: Plan, recipe: Recipe, *, generator: random.Random) -> Plan:
    """The same program at other sizes; where none fit, as it was, and a filter then finds the duplicate."""
    for _ in range(_STEP_TRIES):
        try:
            varied = reshape(plan, sample_shape(plan.steps[0], generator))[0]
            return _fit(varied, recipe, generator=generator)
        except TrialError:
            continue
    return plan


def _write(plan: Plan, recipe: Recipe, *, number: int) -> Candidate:
    library = plan.steps[0].operator.package
    return Candidate(
        number=number,
        seed=recipe.seed,
        ops=plan.names,
        data_source=f"{library}#{len(plan.steps)}",
        code=write_source(plan),
        tags=tuple(sorted({tag for step in plan.steps for tag in step.operator.tags})),
        joins=tuple(step.join.value for step in plan.steps),
        family=f"{recipe.seed}-{number // recipe.family_size}",
        precision=plan.precision,
    )

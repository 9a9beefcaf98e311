"""Batches are what people choose, and follow from the machine's model, not from a clock."""

import random

import pytest

from cuda_agent.synthesis.operator import Operator
from cuda_agent.synthesis.plan import Plan
from cuda_agent.synthesis.sampling import sample_first_step
from cuda_agent.synthesis.size import MACHINES, Machine, estimate_ms, rebatch, reshape, resize, round_batch
from cuda_agent.synthesis.trial import TrialError
from cuda_agent.tasks.target import Target


@pytest.mark.parametrize(
    ("wished", "batch"),
    [(0.3, 1), (1.9, 1), (2.0, 2), (3.5, 3), (5.9, 4), (6.0, 6), (100.0, 96), (128.0, 128)],
)
def test_round_batch(wished: float, batch: int) -> None:
    assert round_batch(wished) == batch


def make_plan(operators: tuple[Operator, ...], name: str) -> Plan:
    operator = next(operator for operator in operators if operator.name == name)
    return Plan(steps=(sample_first_step(operator, random.Random(1)),))


def test_the_goal_is_met_within_a_factor_of_two(operators: tuple[Operator, ...]) -> None:
    machine = MACHINES[Target.CPU]
    for name in ("torch.nn.Softmax", "torch.nn.Conv2d", "torch.bmm"):
        plan, trial = resize(make_plan(operators, name), goal_ms=20.0, memory_bytes=16e9, machine=machine)
        assert 10.0 <= estimate_ms(trial, machine) <= 25.0
        assert trial.shape[0] == plan.steps[0].shape[0]


def test_memory_limits_the_batch(operators: tuple[Operator, ...]) -> None:
    fast = Machine(gb_per_s=1e6, gflop_per_s=1e9, goals=(1.0, 1.0))
    trial = resize(make_plan(operators, "torch.nn.Softmax"), goal_ms=100.0, memory_bytes=1e9, machine=fast)[1]
    assert 0.2e9 <= trial.held_bytes <= 0.5e9


def test_what_does_not_fit_is_refused(operators: tuple[Operator, ...]) -> None:
    with pytest.raises(TrialError, match="memory"):
        resize(
            make_plan(operators, "torch.nn.Softmax"),
            goal_ms=1.0,
            memory_bytes=1e3,
            machine=Machine(1e3, 1e3, (1.0, 1.0)),
        )


def test_another_shape_carries_on(operators: tuple[Operator, ...]) -> None:
    plan, trial = reshape(make_plan(operators, "torch.nn.MaxPool2d"), (3, 5, 64, 32))
    assert plan.steps[0].shape == (3, 5, 64, 32)
    assert trial.shape[:2] == (3, 5)


def test_rebatch_carries_shapes_on(operators: tuple[Operator, ...]) -> None:
    assert rebatch(make_plan(operators, "torch.nn.MaxPool2d"), 5)[1].shape[0] == 5

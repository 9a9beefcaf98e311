"""Draws follow from their generator alone."""

import random

from cuda_agent.synthesis.operator import Operator
from cuda_agent.synthesis.plan import accepts
from cuda_agent.synthesis.sampling import sample_first_step, sample_shape


def test_a_first_step_fits_its_operator(operators: tuple[Operator, ...]) -> None:
    for operator in operators:
        step = sample_first_step(operator, random.Random(1))
        assert step.values.keys() == operator.choices.keys()
        assert accepts(operator.layout, step.shape) or operator.layout == "indices"
        assert len(step.axes) == len(step.shape)


def test_another_shape_is_of_the_same_layout(operators: tuple[Operator, ...]) -> None:
    for operator in operators:
        step = sample_first_step(operator, random.Random(1))
        shape = sample_shape(step, random.Random(2))
        assert accepts(operator.layout, shape) or operator.layout == "indices"
        assert len(shape) == len(step.axes)


def test_the_same_generator_gives_the_same_step(operators: tuple[Operator, ...]) -> None:
    for operator in operators[::9]:
        assert sample_first_step(operator, random.Random(3)) == sample_first_step(operator, random.Random(3))

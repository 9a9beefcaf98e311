"""A plan becomes a program that a person could have written."""

import random
from dataclasses import replace

from cuda_agent.synthesis.operator import Operator
from cuda_agent.synthesis.plan import Join, Plan, Step
from cuda_agent.synthesis.sampling import sample_first_step, sample_step
from cuda_agent.synthesis.trial import run_trial
from cuda_agent.synthesis.write import write_source
from cuda_agent.tasks.source import parse_task


def find(operators: tuple[Operator, ...], name: str) -> Operator:
    return next(operator for operator in operators if operator.name == name)


def make_steps(operators: tuple[Operator, ...], *names: str) -> list[Step]:
    generator = random.Random(0)
    first = sample_first_step(find(operators, names[0]), generator)
    rest = [sample_step(find(operators, name), generator, shape=first.shape) for name in names[1:]]
    return [first, *rest]


def test_two_layers_of_one_kind_have_two_names(operators: tuple[Operator, ...]) -> None:
    steps = make_steps(operators, "torch.nn.BatchNorm2d", "torch.nn.PReLU", "torch.nn.BatchNorm2d")
    code = write_source(Plan(steps=tuple(steps)))
    assert "self.batch_norm2d = nn.BatchNorm2d(channels)" in code
    assert "self.batch_norm2d_2 = nn.BatchNorm2d(channels)" in code
    assert "return self.batch_norm2d_2(x)" in code
    parse_task(code, name="two")
    assert run_trial(code).shape == steps[0].shape


def test_joins_are_written(operators: tuple[Operator, ...]) -> None:
    first, second = make_steps(operators, "torch.nn.Softmax", "torch.nn.ELU")
    for join, words in [
        (Join.RESIDUAL, "return x + self.elu(x)"),
        (Join.GATE, "return x * self.elu(x)"),
        (Join.BRANCH, "left = self.softmax(x)\n        return left + self.elu(x)"),
    ]:
        code = write_source(Plan(steps=(first, replace(second, join=join))))
        assert words in code
        assert run_trial(code).shape == first.shape


def test_what_an_operator_does_not_bear_is_guarded(operators: tuple[Operator, ...]) -> None:
    first, second = make_steps(operators, "torch.nn.ELU", "torch.pow")
    code = write_source(Plan(steps=(first, second)))
    assert "x = x.square() + 0.1\n" in code
    assert "torch.rand(" in code

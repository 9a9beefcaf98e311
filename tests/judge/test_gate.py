"""The gate drops what is not worth judging, and keeps the rest."""

import pytest
import torch

from cuda_agent.judge.gate import GateMeasurement, changes, find_fault, measure_gate, summarise_output


class Net(torch.nn.Module):
    """A layer, and whatever is made of its output and of both inputs."""

    def __init__(self, expression: str) -> None:
        super().__init__()
        self.layer = torch.nn.Linear(8, 6)
        self.expression = expression

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> object:
        return eval(self.expression, {"torch": torch, "self": self, "h": self.layer(x), "x": x, "y": y})


def measure(expression: str) -> GateMeasurement:
    torch.manual_seed(0)
    net = Net(expression).eval()
    state = {name: value.clone() for name, value in net.state_dict().items()}
    with torch.no_grad():
        inputs, fresh = ([torch.randn(5, 8), torch.randn(5, 6)] for _ in range(2))
        found = measure_gate(net, inputs, fresh=fresh)
    assert all(torch.equal(value, state[name]) for name, value in net.state_dict().items())
    return found


@pytest.mark.parametrize(
    "expression", ["h + y", "(h * y).sum()", "(h > y)", "{'a': h + y, 'b': h - y}", "h @ y.T"]
)
def test_kept(expression: str) -> None:
    assert find_fault(measure(expression)) == ""


@pytest.mark.parametrize(
    ("expression", "fault"),
    [
        ("h * 0 + y * 0", "an output is zero"),
        ("torch.ones(5) + 0 * h.sum()", "an output is constant"),
        ("torch.tanh(h + y) * 1e-3", "an output lies within 0.01 of zero"),
        ("torch.tanh(h + y) * 1e-3 + 5", "an output's standard deviation is below 0.01"),
        ("(h + y).mean(0, keepdim=True).expand(5, 6)", "an output does not vary along axis 0"),
        ("torch.log(h + y)", "an output is not finite"),
        ("h", "input 1 changes no output"),
        ("x[:, :6] + y", "no weight changes an output"),
        ("[]", "there is no output tensor"),
        ("[h + y, h * 0]", "an output is zero"),
    ],
)
def test_dropped(expression: str, fault: str) -> None:
    assert find_fault(measure(expression)) == fault


def test_a_softmax_over_a_long_axis_is_dropped() -> None:
    torch.manual_seed(0)
    long, short = (summarise_output(torch.softmax(torch.randn(16, size), -1)) for size in (65536, 16))
    assert find_fault(GateMeasurement(outputs=(long,))) == "an output lies within 0.01 of zero"
    assert find_fault(GateMeasurement(outputs=(short,))) == ""


def test_a_weight_without_effect_is_named_but_no_fault() -> None:
    found = measure("h - torch.nn.functional.linear(x, self.layer.weight) + x[:, :6] + y")
    assert found.ignored_weights == ("layer.weight",)
    assert found.weights == 2
    assert find_fault(found) == ""


def test_weights_are_exchanged_until_one_matters() -> None:
    calls = 0

    def count(*_: object) -> None:
        nonlocal calls
        calls += 1

    net = torch.nn.Sequential(*(torch.nn.Linear(8, 8) for _ in range(20)))
    net.register_forward_hook(count)
    with torch.no_grad():
        found = measure_gate(net, [torch.randn(4, 8)], fresh=[torch.randn(4, 8)])
    assert (found.weights, found.ignored_weights, calls) == (40, (), 3)


def test_one_row_that_differs_is_found_where_few_places_say_the_opposite() -> None:
    same = torch.zeros(1000, 1000) + torch.arange(1000.0)
    other = same.clone()
    other[501, 7] += 1.0
    assert not changes([same], [same.clone()])
    assert changes([same], [other])
    assert summarise_output(same).flat_axes == (0,)
    assert summarise_output(other).flat_axes == ()


def test_other_kinds_of_tensors() -> None:
    assert summarise_output(torch.tensor([1, 2, 3])).highest == 3.0
    assert summarise_output(torch.tensor([3 + 4j, 0j])).highest == 5.0
    assert summarise_output(torch.tensor([[1.0, 2.0], [1.0, 2.0]])).flat_axes == (0,)
    assert summarise_output(torch.tensor(2.0)).spread == 2.0
    assert summarise_output(torch.zeros(0)).is_finite

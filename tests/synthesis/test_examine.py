"""What a program does when it runs."""

import pytest
import torch

from cuda_agent.judge.device import CpuDevice
from cuda_agent.synthesis.examine import Examiner, find_redundant
from cuda_agent.synthesis.questions import (
    Compare,
    Compared,
    Compile,
    Done,
    Examine,
    Examined,
    Failed,
    Measure,
    Timed,
)
from tests.synthesis.conftest import GOOD


@pytest.fixture(scope="module")
def examiner() -> Examiner:
    return Examiner(CpuDevice(torch.get_num_threads()))


def examine(examiner: Examiner, code: str) -> Examined:
    answer = examiner.answer(Examine(code=code, seed=3))
    assert isinstance(answer, Examined), answer
    return answer


def test_a_good_program(examiner: Examiner) -> None:
    found = examine(examiner, GOOD)
    assert not found.draws_random
    assert found.is_deterministic
    assert found.redundant == ""
    assert found.gate.weights == 2
    assert found.memory_bytes == 4 * (16 * 32 + 32 * 24 + 24 + 16 * 24)
    assert isinstance(examiner.answer(Measure(is_compiled=False)), Timed)


def test_random_and_unsteady_programs(examiner: Examiner) -> None:
    assert examine(examiner, GOOD.replace("torch.tanh(x)", "x + torch.rand_like(x)")).draws_random
    counting = GOOD.replace(
        "return torch.tanh(x)", "self.n = getattr(self, 'n', 0) + 1\n        return x + self.n"
    )
    found = examine(examiner, counting)
    assert not found.is_deterministic
    assert not found.draws_random


def test_a_failure_is_an_answer(examiner: Examiner) -> None:
    answer = examiner.answer(Examine(code=GOOD.replace("tanh", "tahn"), seed=0))
    assert isinstance(answer, Failed)
    assert answer.reason.startswith("AttributeError: module 'torch' has no attribute 'tahn'")


@pytest.mark.parametrize(
    ("expression", "found"),
    [
        ("torch.relu(torch.sigmoid(x))", "torch.relu"),
        ("torch.relu(x).abs()", "torch.Tensor.abs"),
        ("torch.nn.functional.dropout(x, training=False)", "torch.nn.functional.dropout"),
        ("torch.clamp(torch.tanh(x), -2, 2)", "torch.clamp"),
        ("torch.relu(x).contiguous().reshape(-1)", ""),
        ("torch.sigmoid(torch.relu(x)) * x", ""),
    ],
)
def test_operators_that_change_nothing(expression: str, found: str) -> None:
    class Net(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return eval(expression, {"torch": torch, "x": x})  # type: ignore[no-any-return]

    assert find_redundant(Net(), [torch.randn(4, 5)]) == found


class Stack(torch.nn.Module):
    """Layers one after another, as a program of its own."""

    def __init__(self, *layers: torch.nn.Module) -> None:
        super().__init__()
        self.layers = torch.nn.ModuleList(layers)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for layer in self.layers:
            x = layer(x)
        return x


def test_layers_that_change_nothing() -> None:
    linear, tanh = torch.nn.Linear(3, 3), torch.nn.Tanh()
    assert find_redundant(Stack(linear, torch.nn.Dropout(0.5), tanh).eval(), [torch.randn(4, 3)]) == "Dropout"
    assert find_redundant(Stack(torch.nn.Sigmoid(), torch.nn.ReLU()), [torch.randn(4, 3)]) == "ReLU"
    assert find_redundant(Stack(torch.nn.ReLU(), linear), [torch.randn(4, 3)]) == ""


def test_what_a_layer_does_within_is_its_own_affair() -> None:
    layer = torch.nn.TransformerEncoderLayer(8, 2, dim_feedforward=8, batch_first=True).eval()
    assert find_redundant(Stack(layer), [torch.randn(2, 5, 8)]) == ""


def test_a_weight_of_ones_is_no_reason_and_is_put_back() -> None:
    class Scale(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = torch.nn.Parameter(torch.ones(3))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x * self.weight

    scale = Scale()
    with torch.no_grad():
        assert find_redundant(scale, [torch.randn(4, 3)]) == ""
    assert torch.equal(scale.weight, torch.ones(3))


@pytest.mark.slow
def test_compiling_runs_nothing(examiner: Examiner) -> None:
    code = GOOD.replace("return torch.tanh(x)", "return torch.tanh(x) * torch.sin(x)")
    examine(examiner, code)
    assert examiner.answer(Compile()) == Done()
    early = examiner.answer(Measure(is_compiled=True))
    assert isinstance(early, Failed)
    assert early.reason.startswith("_NotYetError")
    assert examiner.answer(Compare()) == Compared(differing_share=0.0)
    assert isinstance(examiner.answer(Measure(is_compiled=True)), Timed)

"""What a program does when it runs."""

import pytest
import torch

from cuda_agent.judge.device import CpuDevice
from cuda_agent.synthesis.examine import Examiner, find_redundant
from cuda_agent.synthesis.questions import Examine, Examined, Failed, Measure, Timed
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


def test_a_layer_that_gives_back_its_input() -> None:
    net = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.Dropout(0.5), torch.nn.Tanh()).eval()
    assert "ropout" in find_redundant(net, [torch.randn(4, 3)])

"""A task is looked at in the least changed form that this machine bears; its facts are of its own sizes."""

from pathlib import Path

import pytest
import torch
from torch.utils._pytree import tree_leaves

from cuda_agent.bench.gate import Basis, Survey
from cuda_agent.bench.survey import BEARABLE_S, _choose_form, _Counter, estimate_cost, run_gate, survey
from cuda_agent.judge.gate import find_fault

SUITE = Path(__file__).parents[1] / "suite"
PRODUCT = """
import torch

class Model(torch.nn.Module):
    def __init__(self, n):
        super().__init__()
        self.linear = torch.nn.Linear(n, 10, bias=False)

    def forward(self, x):
        return self.linear(x), x.sum()

def get_inputs():
    return [torch.rand(8, 100)]

def get_init_inputs():
    return {"n": 100}
"""


def read(place: str) -> str:
    return (SUITE / f"{place}.py").read_text()


def test_facts_are_counted_without_computing() -> None:
    cost = estimate_cost(PRODUCT)
    assert (cost.facts.input_bytes, cost.facts.weight_bytes) == (4 * 8 * 100, 4 * 100 * 10)
    assert cost.facts.output_bytes == 4 * (8 * 10 + 1)
    assert cost.facts.flops == 2 * 8 * 100 * 10
    assert cost.facts.moved_bytes == 4 * (800 + 1000 + 81)


def test_a_small_task_is_looked_at_as_it_is() -> None:
    found = survey(Survey(code=read("level1/1_relu")))
    assert (found.basis, found.changes) == (Basis.FULL, "")
    assert found.gate is not None
    assert find_fault(found.gate) == ""


def test_a_task_of_a_terabyte_is_looked_at_through_a_stand_in() -> None:
    found = survey(Survey(code=read("level1/11_scaled_sum")))
    assert (found.basis, found.changes) == (Basis.STAND_IN, "batch_size 65536 -> 4")
    assert found.facts is not None
    assert found.facts.input_bytes == 4 * 65536 * 2048 * 2048


def test_a_constant_task_is_caught() -> None:
    assert find_fault(run_gate(read("level2/2_all_ones"), seed=0)) == "an output is constant"


def test_a_program_that_fails_is_an_answer() -> None:
    found = survey(Survey(code=PRODUCT.replace("rand(8, 100)", "rand(8, 99)")))
    assert (found.basis, found.facts, found.gate) == (Basis.NONE, None, None)
    assert "RuntimeError" in found.reason


def test_a_program_too_big_in_every_form_is_an_answer() -> None:
    found = survey(Survey(code=PRODUCT.replace("(8, 100)", "(1 << 40, 100)")))
    assert found.basis is Basis.NONE
    assert "no form of it is small enough" in found.reason
    assert found.facts is not None


def test_recurrent_layers_are_counted_from_outside() -> None:
    code = PRODUCT.replace("torch.nn.Linear(n, 10, bias=False)", "torch.nn.GRU(n, 10, batch_first=True)")
    cost = estimate_cost(
        code.replace("rand(8, 100)", "rand(8, 300, 100)").replace("self.linear(x)", "self.linear(x)[0]")
    )
    assert cost.facts.flops == 2 * 8 * 300 * 3 * (10 * 100 + 10 * 10)


@pytest.mark.parametrize("layer", ["RNN", "GRU", "LSTM"])
@pytest.mark.parametrize("options", ["", ", batch_first=True", ", bidirectional=True, num_layers=3"])
@pytest.mark.parametrize("shape", [(7, 5, 6), (7, 6)])
def test_a_recurrent_layer_says_what_it_really_returns(
    layer: str, options: str, shape: tuple[int, ...]
) -> None:
    build = eval(f"lambda: torch.nn.{layer}(6, 4{options})", {"torch": torch})
    real = tree_leaves(build()(torch.randn(shape)))
    with torch.device("meta"):
        module = build()
        _Counter().skip_steps(module)
        told = tree_leaves(module(torch.randn(shape)))
    assert [value.shape for value in told] == [value.shape for value in real]


def test_a_long_sequence_takes_no_time_to_be_counted() -> None:
    code = PRODUCT.replace("torch.nn.Linear(n, 10, bias=False)", "torch.nn.LSTM(n, 10, 6, batch_first=True)")
    code = code.replace("rand(8, 100)", "rand(8, 1 << 20, 100)").replace(
        "self.linear(x)", "self.linear(x)[0]"
    )
    cost = estimate_cost(code)
    assert cost.facts.output_bytes == 4 * (8 * (1 << 20) * 10 + 1)
    assert cost.likely_s < cost.seconds


def test_a_form_too_long_only_if_no_weight_matters_is_borne() -> None:
    many = "torch.nn.Sequential(*(torch.nn.Linear(n, n) for _ in range(32)))"
    code = PRODUCT.replace("torch.nn.Linear(n, 10, bias=False)", many).replace("(8, 100)", "(1 << 16, 100)")
    cost = estimate_cost(code)
    assert cost.likely_s < BEARABLE_S < cost.seconds
    found = _choose_form(code, cost)
    assert found is not None
    assert found.source == code

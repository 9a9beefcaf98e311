"""A task that can be answered without computing is refused, and an honest one is not."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from cuda_agent.judge.device import CpuDevice
from cuda_agent.judge.gatekeeper import Gatekeeper, hint_at_dtype
from cuda_agent.judge.inputs import randomise_state
from cuda_agent.judge.policy import load_policy
from cuda_agent.judge.reference import import_source
from cuda_agent.judge.result import TaskResult, TaskStatus

CORPUS = sorted((Path(__file__).parents[1] / "tasks_for_judge").glob("*.py"))
WASTEFUL = {"diagonal", "diagonal_product", "linear_sum"}
NOT_FINITE = {"log_of_zero", "masked_rows"}


class Net(nn.Module):
    """A layer, and whatever is made of its output."""

    def __init__(self, expression: str) -> None:
        super().__init__()
        self.layer = nn.Linear(256, 256)
        self.expression = expression
        self.kept: list[torch.Tensor] = []

    def forward(self, x: torch.Tensor) -> object:
        return eval(self.expression, {"torch": torch, "self": self, "h": self.layer(x), "x": x})


def check(
    expression: str,
    *,
    policy: str = "strict",
    draw: Callable[[], torch.Tensor] = lambda: torch.randn(512, 256),
) -> TaskResult:
    torch.manual_seed(0)
    net = Net(expression).eval()
    before = {name: value.clone() for name, value in net.state_dict().items()}
    result = Gatekeeper(net, lambda: [draw()], device=CpuDevice(1), policy=load_policy(policy)).run()
    assert all(torch.equal(value, before[name]) for name, value in net.state_dict().items())
    return result


@pytest.mark.parametrize(
    "expression",
    [
        "torch.relu(h)",
        "torch.softmax(h * 9, dim=0)",
        "h.norm()",
        "h.argmax(-1)",
        "h > 0",
        "{'a': h, 'b': [x, h * 0]}",
        "h.mean().expand(512, 256)",
        "x.view_as_complex() if False else torch.complex(h, x)",
        "x.mul_(2) + h",
    ],
)
def test_honest_tasks_are_judged(expression: str) -> None:
    result = check(expression)
    assert (result.status, result.reason, result.flags) == (TaskStatus.OK, "", ())


@pytest.mark.parametrize(
    ("expression", "reason"),
    [
        ("h * 0", "zeros would pass"),
        ("torch.zeros_like(h, dtype=torch.int64)", "zeros would pass"),
        ("torch.clamp(h, -1, -1)", "a constant would pass"),
        ("h.amax(1, keepdim=True).sub(h.amax(1, keepdim=True).mean(1, keepdim=True))", "zeros would pass"),
        ("self.layer.weight * 2", "the answer to other inputs would pass"),
        ("torch.relu(x)", "the answer of other weights would pass"),
        ("torch.nn.functional.dropout(x, training=False) + 0 * h", "the answer of other weights would pass"),
        ("torch.nn.functional.group_norm(h.reshape(512, 8, 32), 8).mean((1, 2))", "zeros would pass"),
        ("h + torch.rand_like(h)", "its output is random"),
        ("torch.bernoulli(torch.sigmoid(h))", "its output is random"),
        ("torch.randint_like(h, 9).long()", "its output is random"),
        ("torch.cat([h, torch.empty(512, 256)])", "memory that nothing wrote"),
        ("[h, torch.empty(512, 256, dtype=torch.int64)]", "memory that nothing wrote"),
        (
            "(self.kept.append(x) or h + self.kept[-2]) if self.kept else self.kept.append(x) or h",
            "earlier calls",
        ),
        ("h / 0 * 0", "not one element of its output is finite"),
        ("h[:0]", "no element that could be compared"),
        ("'nothing'", "no element that could be compared"),
    ],
)
def test_what_says_nothing_is_refused(expression: str, reason: str) -> None:
    result = check(expression)
    assert result.status is TaskStatus.FAULTY
    assert reason in result.reason


def test_an_input_given_back_is_refused() -> None:
    net = nn.ReLU()
    keeper = Gatekeeper(
        net, lambda: [torch.rand(512, 256)], device=CpuDevice(1), policy=load_policy("strict")
    )
    assert keeper.run().reason == "input 0, given back, would pass for its output"


def test_a_tolerance_that_lets_zeros_pass_is_a_flag() -> None:
    expression = "torch.softmax(h.reshape(-1), dim=0)"
    assert check(expression).status is TaskStatus.OK
    result = check(expression, policy="paper")
    assert result.status is TaskStatus.FLAGGED
    assert result.flags == ("zeros would pass for its output under the policy's fixed tolerance",)


def test_what_should_be_known_is_flagged(monkeypatch: pytest.MonkeyPatch) -> None:
    some = check("torch.log(h)")
    assert some.flags == ("parts of its output are not finite, and compared only for being so",)
    hidden = check("torch.matmul(h, torch.eye(256)) + 1")
    assert hidden.is_judged
    assert "no float64 form" in hidden.flags[0]
    assert "hidden state, without its inputs' dtype" in hidden.flags[0]
    monkeypatch.setattr("cuda_agent.judge.gatekeeper.SHORT_MS", 1e6)
    small = check("torch.relu(h)")
    assert [flag.partition(":")[0] for flag in small.flags] == ["too small to be timed well"]


def test_what_takes_too_long_is_refused_after_one_call(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cuda_agent.judge.gatekeeper.TOO_LONG_S", 0.0)
    assert check("torch.relu(h)").reason.startswith("too big: one call takes")


def test_a_wasteful_reference_is_flagged_with_its_cheaper_form() -> None:
    class Diagonal(nn.Module):
        def forward(self, d: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
            return torch.diag(d) @ b

    keeper = Gatekeeper(
        Diagonal(),
        lambda: [torch.randn(700), torch.randn(700, 700)],
        device=CpuDevice(1),
        policy=load_policy("strict"),
    )
    result = keeper.run()
    assert result.status is TaskStatus.FLAGGED
    assert result.cheaper_form == "`a[:, None] * B` instead of `diag(a) @ B`"
    assert result.cheaper_gain > 3
    assert result.flags[0].startswith("a wasteful reference")


def test_a_dtype_is_hinted_at_only_where_an_error_speaks_of_it() -> None:
    assert "dtype=x.dtype" in hint_at_dtype("mat1 and mat2 must have the same dtype, but got Float and Half")
    assert hint_at_dtype("expected scalar type Half but found Float")
    assert hint_at_dtype("division by zero") == ""


@pytest.mark.slow
@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.stem)
def test_every_task_of_the_corpora_is_judged(path: Path) -> None:
    program: Any = import_source(path.read_text())
    torch.manual_seed(0)
    arguments = program.get_init_inputs()
    with torch.no_grad():
        net = program.Model(**arguments) if isinstance(arguments, dict) else program.Model(*arguments)
        randomise_state(net.eval().state_dict())
    keeper = Gatekeeper(net, program.get_inputs, device=CpuDevice(1), policy=load_policy("strict"))
    result = keeper.run()
    assert result.is_judged, result.reason
    assert bool(result.cheaper_form) == (path.stem in WASTEFUL)
    assert any("not finite" in flag for flag in result.flags) == (path.stem in NOT_FINITE)

"""Baselines are timed without a submission, in any mode; a task that cannot be timed says why."""

import pytest

from cuda_agent.judge.baseline import Baseline
from cuda_agent.judge.baseline_meter import BaselineMeter
from cuda_agent.judge.policy import JudgePolicy
from cuda_agent.judge.protocol import CompileMode
from cuda_agent.judge.result import TaskStatus
from cuda_agent.sandbox.protocol import Sandbox
from cuda_agent.tasks.target import Target
from cuda_agent.tasks.task import Task

SOURCE = """
import torch

class Model(torch.nn.Module):
    def forward(self, x):
        return {expression}

def get_inputs():
    return [torch.randn(256, 1024)]

def get_init_inputs():
    return []
"""
QUICK = JudgePolicy(name="quick", warmup_calls=1, rounds=2, max_rounds=2, block_calls=1)


def open_meter(expression: str, sandbox: Sandbox) -> BaselineMeter:
    task = Task(name="t", source=SOURCE.format(expression=expression))
    return BaselineMeter(task, target=Target.CPU, sandbox=sandbox, policy=QUICK)


@pytest.mark.slow
@pytest.mark.timing
def test_two_modes_one_after_the_other(sandbox: Sandbox) -> None:
    with open_meter("torch.tanh(x) * 2 + x", sandbox) as meter:
        for mode in (CompileMode.DEFAULT, CompileMode.MAX_AUTOTUNE_NO_CUDAGRAPHS):
            assert meter.open().is_judged
            found = meter.measure(mode)
            assert isinstance(found, Baseline)
            assert found.compile_error == ""
            assert found.compiled is not None
            assert len(found.eager.calls_ms) == 2
            assert min(*found.eager.calls_ms, *found.compiled.calls_ms) > 0
        assert meter.copy_gb_per_s > 0
        assert "torch" in meter.versions


def test_a_constant_task_is_not_timed(sandbox: Sandbox) -> None:
    with open_meter("torch.zeros_like(x)", sandbox) as meter:
        result = meter.open()
    assert result.status is TaskStatus.FAULTY
    assert "zeros" in result.reason

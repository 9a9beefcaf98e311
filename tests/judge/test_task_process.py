"""A task's own process: asked once, blamed only for what it does alone."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from cuda_agent.judge.compile_cache import find_compile_cache
from cuda_agent.judge.policy import Precision, load_policy
from cuda_agent.judge.process import ChildProcess
from cuda_agent.judge.result import TaskStatus
from cuda_agent.judge.stock import Stock
from cuda_agent.judge.task_process import TaskProcess
from cuda_agent.sandbox.protocol import Sandbox
from cuda_agent.tasks.target import Target
from cuda_agent.tasks.task import Task

SOURCE = """
import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        {body}


def get_inputs():
    return [{inputs}]


def get_init_inputs():
    return []
"""
RECURRENT = "return torch.nn.functional.linear(x.half(), torch.zeros(8, 256))"


class Opening:
    """Starts a task's process, and counts how often."""

    def __init__(self, stock: Stock) -> None:
        self._stock = stock
        self.starts = 0

    def start(self) -> ChildProcess:
        self.starts += 1
        return self._stock.take_reference()

    @contextmanager
    def open(self, body: str, *, inputs: str = "torch.randn(64, 256)") -> Iterator[TaskProcess]:
        task = Task(name="case", source=SOURCE.format(body=body, inputs=inputs))
        process = TaskProcess(task, Target.CPU, policy=load_policy("strict"), start=self.start)
        try:
            yield process
        finally:
            process.forget()


@pytest.fixture
def opening(sandbox: Sandbox) -> Iterator[Opening]:
    with Stock(Target.CPU, sandbox=sandbox, precision=Precision.HIGHEST, runners=0) as stock:
        yield Opening(stock)


def test_a_faulty_task_is_asked_once_and_never_started_again(opening: Opening) -> None:
    with opening.open("return x * 0") as process:
        assert process.check().reason == "zeros would pass for its output"
        assert process.is_refused
        process.start()
        assert process.check().status is TaskStatus.FAULTY
    assert opening.starts == 1


def test_a_hidden_state_of_the_wrong_dtype_is_named(opening: Opening) -> None:
    with opening.open(RECURRENT) as process:
        result = process.check()
    assert result.status is TaskStatus.FAILED
    assert "dtype" in result.reason
    assert "give it dtype=x.dtype" in result.reason


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_inputs_may_be_made_on_whatever_device_there_is(opening: Opening, dtype: str) -> None:
    device = "'cuda' if torch.cuda.is_available() else 'cpu'"
    inputs = f"torch.randn(64, 256, device={device}, dtype=torch.{dtype})"
    with opening.open("return torch.relu(x)", inputs=inputs) as process:
        assert process.check().is_judged


def test_a_device_that_the_target_lacks_is_named_with_its_line(opening: Opening) -> None:
    inputs = "torch.randn(64, 256, device='cuda')"
    with opening.open("return torch.relu(x)", inputs=inputs) as process:
        result = process.check()
    assert result.status is TaskStatus.FAILED
    assert "CUDA" in result.reason
    assert f"return [{inputs}]" in result.detail


def test_what_fails_for_other_inputs_is_the_tasks_fault_once_it_did_so_alone(opening: Opening) -> None:
    raises = "return torch.relu(x) if x.median() > -1 else x.no_such_method()"
    with opening.open(raises) as process:
        assert process.check().is_judged
        result = process.try_alone()
    assert result.status is TaskStatus.FAILED
    assert "no_such_method" in result.reason


def test_what_works_alone_is_not_blamed(opening: Opening) -> None:
    with opening.open("return torch.relu(x)") as process:
        assert process.try_alone().is_judged
        assert process.check() == process.result
    assert opening.starts == 1


@pytest.mark.slow
def test_what_was_compiled_is_kept_for_the_tasks_next_process(opening: Opening) -> None:
    kept = []
    for _ in range(2):
        with opening.open("return torch.relu(x) * 1.625 + x.sin()") as process:
            assert process.check().is_judged
            assert process.precompile().is_judged
        folder = find_compile_cache(process.task)
        kept.append({str(path.relative_to(folder)) for path in folder.rglob("*.so")})
    assert kept[0]
    assert kept[1] == kept[0]
    assert opening.starts == 2


@pytest.mark.slow
def test_a_reference_that_compiling_ends_is_at_fault_alone(opening: Opening) -> None:
    body = "torch.compiler.is_compiling() and __import__('os').abort()\n        return torch.relu(x)"
    with opening.open(body) as process:
        assert process.try_alone().is_judged
        result = process.try_alone(compiled=True)
    assert result.status is TaskStatus.FAILED
    assert "SIGABRT" in result.reason

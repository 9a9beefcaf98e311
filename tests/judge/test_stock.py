"""Runners wait before they are needed, serve once, and leave nothing behind."""

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import suppress

import pytest

from cuda_agent.errors import InfrastructureError
from cuda_agent.judge.census import find_processes_below
from cuda_agent.judge.judge import Judge
from cuda_agent.judge.policy import Precision, load_policy
from cuda_agent.judge.process import ChildProcess
from cuda_agent.judge.protocol import Load
from cuda_agent.judge.replies import Done
from cuda_agent.judge.stock import Stock
from cuda_agent.judge.task_process import receive_prepared
from cuda_agent.sandbox.protocol import Sandbox
from cuda_agent.tasks.target import Target
from cuda_agent.tasks.task import Task


@pytest.fixture
def stock(sandbox: Sandbox) -> Iterator[Stock]:
    with Stock(Target.CPU, sandbox=sandbox, precision=Precision.HIGHEST, runners=2) as opened:
        yield opened


def test_runners_are_taken_in_the_order_they_were_started_in(stock: Stock) -> None:
    stock.refill()
    first, second = stock._waiting["cuda_agent.judge.runner"]
    assert [stock.take_runner(), stock.take_runner()] == [first, second]
    for runner in (first, second):
        assert receive_prepared(runner).device
        runner.close()


def test_what_was_used_leaves_no_file(stock: Stock) -> None:
    runner = stock.take_runner()
    receive_prepared(runner)
    mine = runner._folder
    assert (mine / "desk").is_dir()
    stock.retire(runner)
    assert not mine.exists()
    folder = mine.parent
    stock.close()
    assert not folder.exists()


def kill_inside(child: ChildProcess) -> None:
    """End what runs in the sandbox, as somebody on the machine might."""
    receive_prepared(child)
    for pid in find_processes_below(child._process.running.pid):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    deadline = time.monotonic() + 60
    while not child.is_gone() and time.monotonic() < deadline:
        time.sleep(0.05)


def test_whoever_died_while_it_waited_is_replaced(stock: Stock) -> None:
    stock.refill()
    first, second = stock._waiting["cuda_agent.judge.runner"]
    kill_inside(first)
    assert stock.take_runner() is second
    assert not first._folder.exists()
    kill_inside(second)
    second.close()
    stock.refill()
    for child in list(stock._waiting["cuda_agent.judge.runner"]):
        kill_inside(child)
    runner = stock.take_runner()
    assert receive_prepared(runner).device
    runner.close()


@pytest.mark.slow
def test_a_reference_process_that_died_while_it_waited_is_no_fault_of_the_task(
    sandbox: Sandbox, tiny_task: Task
) -> None:
    policy = load_policy("strict")
    with Stock(Target.CPU, sandbox=sandbox, precision=Precision.HIGHEST, references=1) as stock:
        stock.refill()
        kill_inside(stock._waiting["cuda_agent.judge.reference"][0])
        with Judge(tiny_task, target=Target.CPU, sandbox=sandbox, policy=policy, stock=stock) as judge:
            assert judge.check_task().is_judged


def test_nothing_is_started_behind_a_closed_door(sandbox: Sandbox) -> None:
    stock = Stock(Target.CPU, sandbox=sandbox, precision=Precision.HIGHEST, runners=3)
    threads = [threading.Thread(target=stock.refill) for _ in range(3)]
    for thread in threads:
        thread.start()
    folder = stock._folder
    stock.close()
    for thread in threads:
        thread.join()
    assert not any(stock._waiting.values())
    assert not folder.exists()


def test_a_closed_stock_gives_none(stock: Stock) -> None:
    stock.close()
    with pytest.raises(InfrastructureError, match="closed"):
        stock.take_runner()


def test_it_outlives_a_judge(stock: Stock, sandbox: Sandbox, tiny_task: Task) -> None:
    policy = load_policy("strict")
    stock.refill()
    waiting = dict(stock._waiting)
    with Judge(tiny_task, target=Target.CPU, sandbox=sandbox, policy=policy, stock=stock) as judge:
        assert judge.check_task().is_judged
    assert stock._waiting == waiting
    runner = stock.take_runner()
    receive_prepared(runner)
    (runner._desk / "model_new.py").write_text("class ModelNew: pass\n")
    runner.ask(Load(folder=str(runner._desk), library=None), Done, timeout_s=30)
    runner.close()

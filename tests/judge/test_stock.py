"""Runners wait before they are needed, serve once, and leave nothing behind."""

from collections.abc import Iterator

import pytest

from cuda_agent.errors import InfrastructureError
from cuda_agent.judge.judge import Judge
from cuda_agent.judge.policy import Precision, load_policy
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

"""The verbs of many machines, from their words to what is done."""

from pathlib import Path

import pytest
import tyro

from cuda_agent.cli import train_scale
from cuda_agent.cli.train import TrainConfig, run_train
from cuda_agent.cli.train_plan import PlanOptions
from cuda_agent.cli.train_pool import PoolOptions
from cuda_agent.cli.train_scale import run_scale
from cuda_agent.cli.train_verl import VerlOptions
from cuda_agent.rl.verl_adapter.launch import PpoLaunch


def parse(words: str) -> TrainConfig:
    return tyro.cli(TrainConfig, args=words.split())


def test_a_plan_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_train(parse("plan two_gpus")) == 0
    assert "GB on each training GPU" in capsys.readouterr().out
    assert run_scale(PlanOptions(scale="one_node")) == 0


def test_words_of_a_pool(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[PoolOptions] = []
    monkeypatch.setattr(train_scale, "serve_pool", asked.append)
    run_train(parse("pool benches --devices 8 --host-workers 32"))
    assert asked == [PoolOptions(name="benches", devices=8, host_workers=32, device_resource="eval_gpu")]


def test_words_of_a_stage(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[VerlOptions] = []
    monkeypatch.setattr(train_scale, "train_on_verl", asked.append)
    words = "verl --show ppo t.parquet --scale two_gpus --policy p --critic c --out o --pool ray:benches"
    run_train(parse(words))
    (options,) = asked
    assert options.show
    assert options.stage == PpoLaunch(
        tasks=Path("t.parquet"), scale="two_gpus", policy="p", critic="c", out=Path("o"), pool="ray:benches"
    )

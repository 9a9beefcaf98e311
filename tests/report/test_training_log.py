"""A training run's figures as they are read."""

import math
from pathlib import Path

from cuda_agent.report.training_log import is_training_log, load_training
from cuda_agent.rl.training import StepRecord
from tests.report.conftest import FATES


def test_steps_without_the_torn_line(training_log: Path) -> None:
    found = load_training(training_log / "metrics.jsonl", "r")
    assert len(found.steps) == 1000
    assert found.steps[9]["step"] == 10
    assert found.steps[499]["critic/rewards/mean"] == 0.7 + 1.2 * 0.5
    assert (found.stages[499], found.stages[500]) == ("rft", "ppo")


def test_what_is_not_finite_is_left_out(training_log: Path) -> None:
    found = load_training(training_log / "metrics.jsonl", "r")
    assert "critic/vf_explained_var" not in found.steps[0]
    assert "critic/vf_explained_var" in found.steps[1]


def test_other_names_of_the_step(tmp_path: Path) -> None:
    log = tmp_path / "m.jsonl"
    log.write_text('{"training/global_step": 7, "actor/entropy": 0.1}\n')
    assert is_training_log(log)
    assert load_training(log, "r").steps == ({"actor/entropy": 0.1, "step": 7.0},)


def test_the_log_of_our_own_training(tmp_path: Path) -> None:
    record = StepRecord(step=0, seconds=2.0, metrics={"critic/rewards/mean": 1.5, "floor/share": math.nan})
    log = tmp_path / "metrics.jsonl"
    log.write_text(record.model_dump_json() + "\n")
    assert is_training_log(log)
    assert load_training(log, "r").steps == ({"seconds": 2.0, "critic/rewards/mean": 1.5, "step": 0.0},)


def test_what_is_no_log(tmp_path: Path) -> None:
    for text in ("", "[]\n", '{"step": 1}\n', '{"actor/entropy": 1}\n', '{"step": "x", "a": 1}\n'):
        (tmp_path / "m.jsonl").write_text(text)
        assert not is_training_log(tmp_path / "m.jsonl")
    assert not is_training_log(FATES)

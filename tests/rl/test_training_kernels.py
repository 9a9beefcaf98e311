"""Training on real kernels: what the policy chooses is compiled, verified and timed on this machine."""

from pathlib import Path

import pytest

from cuda_agent.cli.main import main
from cuda_agent.rl.training import METRICS, StepRecord
from cuda_agent.rundir import read_records

TASK = '''import torch
import torch.nn as nn


class Model(nn.Module):
    """{name} and Sigmoid."""

    def forward(self, x):
        return torch.sigmoid(torch.{name}(x))


def get_inputs():
    return [torch.randn(64, 32, 32, 32)]


def get_init_inputs():
    return []
'''
NETWORK = ("--vocabulary", "1024", "--scratch.layers", "2", "--scratch.hidden", "64", "--scratch.heads", "2",
           "--scratch.intermediate", "176")  # fmt: skip


@pytest.mark.slow
@pytest.mark.timing
def test_ppo_finds_out_which_of_the_known_answers_is_best(tmp_path: Path) -> None:
    """Imitation leaves a choice of four answers a task, and only rewards tell which is the expert's."""
    tasks = [tmp_path / f"{name}.py" for name in ("neg", "relu")]
    for task in tasks:
        task.write_text(TASK.format(name=task.stem))
    expert, imitated, trained = (tmp_path / name for name in ("expert", "imitate", "single_turn"))
    judged = ("--target", "cpu", "--verdicts", str(tmp_path / "verdicts"))
    held = ("run", *map(str, tasks), "--policy", "expert", "--prompt", "single", *judged)
    assert main([*held, "--out", str(expert)]) == 0
    shown = ("train", "imitate", str(expert), "--slips", "--steps", "240", "--batch", "8", *NETWORK)
    assert main([*shown, "--actor.learning-rate", "2e-3", "--device", "cpu", "--out", str(imitated)]) == 0
    improved = (
        "train", "single-turn", *map(str, tasks), "--start", str(imitated), "--target", "cpu",
        "--episode.verdicts", str(tmp_path / "verdicts"), "--episode.limits.reply-tokens", "300",
        "--steps", "10", "--batch", "48", "--episodes", "24", "--rollout.concurrency", "24",
        "--device", "cpu", "--actor.learning-rate", "2e-4", "--critic.learning-rate", "1e-3",
        "--out", str(trained),
    )  # fmt: skip
    assert main(list(improved)) == 0
    steps = [record.metrics for record in read_records(trained / METRICS, StepRecord)]
    first, last = (
        sum(step["critic/rewards/mean"] for step in part) / len(part) for part in (steps[:2], steps[-2:])
    )
    print(f"reward of the first two steps {first:.2f}, of the last two {last:.2f}")
    assert last > first + 0.5
    assert steps[-1]["reward/pass_rate"] > steps[0]["reward/pass_rate"]

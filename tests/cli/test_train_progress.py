"""A step's line."""

import io

from rich.console import Console

from cuda_agent.cli.train_progress import TrainingProgress
from cuda_agent.rl.training import StepRecord


def test_a_step_is_one_line_with_what_tells_most() -> None:
    file = io.StringIO()
    metrics = {"critic/rewards/mean": 0.51234, "actor/lr": 1.0, "actor/entropy": 0.066}
    TrainingProgress(Console(file=file, width=40), 150)(StepRecord(step=11, seconds=3.21, metrics=metrics))
    assert file.getvalue() == "step 12/150  3.2 s  reward 0.5123  entropy 0.066\n"

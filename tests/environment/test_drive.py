"""The driver calls the submission as often as it is told."""

import sys
from pathlib import Path
from types import ModuleType

import pytest

from cuda_agent.environment import drive as module
from cuda_agent.environment.drive import drive
from cuda_agent.tasks.task import Task

CALLS = "calls.txt"

MODEL_NEW = """\
import torch
import kernels


class ModelNew(torch.nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.channels = channels

    def forward(self, x):
        kernels.seen.append((tuple(x.shape), self.channels, float(x[0, 0])))
        return x
"""


def test_a_submission_is_called_with_the_tasks_inputs(
    tmp_path: Path, tiny_task: Task, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernels = ModuleType("kernels")
    kernels.seen = []  # type: ignore[attr-defined]
    monkeypatch.setattr(module, "Kernels", lambda library: kernels)
    for name in ("kernels", "model", "model_new"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    (tmp_path / "model.py").write_text(tiny_task.source)
    (tmp_path / "model_new.py").write_text(MODEL_NEW)
    drive(tmp_path, "kernels.so", calls=3, device="cpu")
    drive(tmp_path, "kernels.so", calls=0, device="cpu")
    assert len(kernels.seen) == 4 + 1
    assert len(set(kernels.seen)) == 1, "the same inputs each time, so that two runs can be compared"
    assert kernels.seen[0][:2] == ((64, 256), 256)

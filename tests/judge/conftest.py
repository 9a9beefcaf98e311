"""What the tests of whole judges share: an honest submission to the tiny task, and variations of it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from cuda_agent.environment.build import build_submission
from cuda_agent.environment.submission import freeze_submission
from cuda_agent.judge.judge import Artifact, Judge
from cuda_agent.judge.policy import load_policy
from cuda_agent.sandbox.protocol import Sandbox
from cuda_agent.tasks.target import Target
from cuda_agent.tasks.task import Task

MODEL = """
import torch
from torch import nn
import kernels


class ModelNew(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(channels))

    def forward(self, x):
        out = torch.empty_like(x)
        kernels.scaled_relu(x, self.scale, out)
        return out
"""
KERNEL = """
#include <cuda_agent/kernel.h>
#include <cstdlib>
#include <cmath>
void scaled_relu(kernel::Tensor x, kernel::Tensor scale, kernel::Tensor out) {
  const float* in = x.data<float>();
  const float* factor = scale.data<float>();
  float* result = out.data<float>();
  const int64_t columns = scale.numel(), rows = x.numel() / columns;
#pragma omp parallel for
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t column = 0; column < columns; ++column) {
      const int64_t i = row * columns + column;
      result[i] = (in[i] > 0.0f ? in[i] : 0.0f) * factor[column];
    }
  // more
}
EXPORT_KERNEL(scaled_relu, scaled_relu);
"""


@pytest.fixture(scope="module")
def judge(sandbox: Sandbox, tiny_task: Task) -> Iterator[Judge]:
    with Judge(tiny_task, target=Target.CPU, sandbox=sandbox, policy=load_policy("strict")) as judge:
        yield judge


@pytest.fixture
def make(sandbox: Sandbox, tmp_path: Path) -> "Maker":
    return Maker(sandbox, tmp_path)


class Maker:
    """Builds variations of the honest submission."""

    def __init__(self, sandbox: Sandbox, folder: Path) -> None:
        self._sandbox = sandbox
        self._folder = folder

    def __call__(self, *, model: tuple[str, str] = ("", ""), kernel: tuple[str, str] = ("", "")) -> Artifact:
        """The honest submission with one text replaced in each file."""
        source = self._folder / "submission"
        (source / "kernels").mkdir(parents=True)
        (source / "model_new.py").write_text(MODEL.replace(*model) if model[0] else MODEL)
        (source / "kernels" / "k.cpp").write_text(KERNEL.replace(*kernel) if kernel[0] else KERNEL)
        (self._folder / "build").mkdir()
        result, library = build_submission(
            freeze_submission(source), target=Target.CPU, sandbox=self._sandbox, folder=self._folder / "build"
        )
        assert library is not None, result
        return Artifact(folder=source, kernels=library)

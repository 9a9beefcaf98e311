"""A small right submission for the tiny task, and what tests of the room share."""

from importlib.util import find_spec
from pathlib import Path

import pytest

from cuda_agent.environment.submission import Submission
from cuda_agent.sandbox.process import ProcessSandbox
from cuda_agent.sandbox.protocol import Sandbox

# The server is an extra of its own.
collect_ignore = [] if find_spec("fastapi") else ["test_remote_pool.py", "test_server.py"]

MODEL = """\
import torch
import torch.nn as nn

import kernels


class ModelNew(nn.Module):
    def __init__(self, channels: int) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.ones(channels))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        out = torch.empty_like(x)
        kernels.relu_scale(x, self.scale, out)
        return out
"""

KERNEL = """\
#include <cuda_agent/kernel.h>

static void relu_scale(kernel::Tensor x, kernel::Tensor scale, kernel::Tensor out) {
  const float* in = x.data<const float>();
  const float* factor = scale.data<const float>();
  float* result = out.data<float>();
  const int64_t columns = x.size(-1), count = x.numel();
#pragma omp parallel for
  for (int64_t i = 0; i < count; ++i) result[i] = (in[i] > 0 ? in[i] : 0) * factor[i % columns];
}
EXPORT_KERNEL(relu_scale, relu_scale);
"""


@pytest.fixture
def submission() -> Submission:
    """Right for the tiny task on cpu."""
    return Submission({"model_new.py": MODEL.encode(), "kernels/relu_scale.cpp": KERNEL.encode()})


@pytest.fixture
def folder(tmp_path: Path, submission: Submission) -> Path:
    """The same, as a folder."""
    submission.write_to(tmp_path / "made")
    return tmp_path / "made"


@pytest.fixture
def plain_sandbox() -> Sandbox:
    """No isolation, and so the quickest start: for compilers fed by the tests themselves."""
    return ProcessSandbox()

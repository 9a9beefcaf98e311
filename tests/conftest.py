"""What every test may ask for, and which tests this machine cannot run.

A test marked with something that is absent here is skipped, and the reason says what is missing.
"""

import importlib.util
import os
from collections.abc import Callable
from pathlib import Path

import hypothesis
import pytest

from cuda_agent.environment.toolchain import find_nvcc
from cuda_agent.errors import ToolchainError
from cuda_agent.sandbox.build import build_sandbox
from cuda_agent.sandbox.protocol import Containment, Sandbox
from cuda_agent.tasks.task import Task
from tests.browser import explain_no_browser

REPOSITORY = Path(__file__).resolve().parents[1]

# The same examples every time, and no deadline: a busy machine must not turn a test red.
hypothesis.settings.register_profile("steady", derandomize=True, deadline=None)
hypothesis.settings.load_profile("steady")

TINY_SOURCE = '''\
"""Scaled ReLU: small enough to judge in a moment."""

import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, channels: int) -> None:
        super().__init__()
        self.scale = nn.Parameter(1.0 + 0.1 * torch.randn(channels))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(x) * self.scale


def get_inputs() -> list[torch.Tensor]:
    return [torch.randn(64, 256)]


def get_init_inputs() -> list[int]:
    return [256]
'''


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add --run-slow."""
    parser.addoption("--run-slow", action="store_true", help="also run the tests marked slow")


def explain_no_gpu() -> str:
    """Why there is no usable GPU, or an empty string."""
    import torch  # takes seconds, so only when a collected test asks for a GPU

    return "" if torch.cuda.is_available() else "needs a GPU that torch can use"


def explain_no_nvcc() -> str:
    """Why there is no nvcc, or an empty string."""
    try:
        find_nvcc()
    except ToolchainError as error:
        return str(error)
    return ""


def explain_not_importable(package: str) -> str:
    """Why `package` is absent, or an empty string."""
    return "" if importlib.util.find_spec(package) else f"needs {package}, which is not installed"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Skip what this machine cannot run; each condition is looked at once, and only if a test asks."""
    run_slow = config.getoption("--run-slow") or os.environ.get("CUDA_AGENT_RUN_SLOW") == "1"
    conditions: dict[str, Callable[[], str]] = {
        "slow": lambda: "" if run_slow else "slow: give --run-slow",
        "gpu": explain_no_gpu,
        "nvcc": explain_no_nvcc,
        "ray": lambda: explain_not_importable("ray"),
        "verl": lambda: explain_not_importable("verl"),
        "browser": explain_no_browser,
    }
    for marker, explain in conditions.items():
        marked = [item for item in items if item.get_closest_marker(marker)]
        reason = explain() if marked else ""
        if reason:
            for item in marked:
                item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture(scope="session")
def repository() -> Path:
    """The root of this repository."""
    return REPOSITORY


@pytest.fixture(scope="session")
def sandbox() -> Sandbox:
    """The best containment that works here."""
    return build_sandbox(Containment.AUTO)


@pytest.fixture(scope="session")
def tiny_task() -> Task:
    """A reference that is judged in a moment: `relu(x) * scale` over 64 x 256."""
    return Task(name="tiny", source=TINY_SOURCE)

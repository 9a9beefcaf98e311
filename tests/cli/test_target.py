"""The target is the wished one, or what the machine has."""

from pathlib import Path

import pytest

from cuda_agent.cli import target as target_module
from cuda_agent.cli.target import choose_target
from cuda_agent.errors import ConfigError, ToolchainError
from cuda_agent.tasks.target import Target


@pytest.fixture(autouse=True)
def gpu(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A machine with nvcc, which has a GPU once the returned file is there."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "nvcc").touch(mode=0o755)
    monkeypatch.setenv("CUDA_HOME", str(tmp_path))
    device = tmp_path / "nvidiactl"
    monkeypatch.setattr(target_module, "NVIDIA_DEVICES", (device,))
    return device


def lose(monkeypatch: pytest.MonkeyPatch, compiler: str) -> None:
    def find_none() -> Path:
        raise ToolchainError(f"no {compiler}")

    monkeypatch.setattr(target_module, f"find_{compiler}", find_none)


def test_a_wish_is_followed(gpu: Path) -> None:
    gpu.touch()
    assert choose_target(Target.CUDA) is Target.CUDA
    assert choose_target(Target.CPU) is Target.CPU


def test_without_a_wish_cuda_needs_a_gpu_and_nvcc(gpu: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert choose_target(None) is Target.CPU
    gpu.touch()
    assert choose_target(None) is Target.CUDA
    lose(monkeypatch, "nvcc")
    assert choose_target(None) is Target.CPU


def test_what_the_wished_target_lacks_is_named(gpu: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ConfigError, match="there is none; use --target cpu"):
        choose_target(Target.CUDA)
    gpu.touch()
    lose(monkeypatch, "nvcc")
    with pytest.raises(ToolchainError, match="no nvcc"):
        choose_target(Target.CUDA)
    lose(monkeypatch, "cxx")
    with pytest.raises(ToolchainError, match="no cxx"):
        choose_target(Target.CPU)

"""The commands of a workspace: quick to start, and clear when they cannot work."""

import subprocess
import sys
import time
from pathlib import Path

import pytest

from cuda_agent.environment.channel import Answer, Channel
from cuda_agent.environment.client import CHANNEL_VARIABLE, run_client


@pytest.mark.parametrize("status", [0, 1])
def test_prints_the_answer_and_returns_its_status(
    tmp_path: Path, status: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with Channel(tmp_path / "s", lambda verb, _: Answer(status, f"said {verb}")) as channel:
        monkeypatch.setenv(CHANNEL_VARIABLE, str(channel.path))
        assert run_client(["submit"]) == status
    assert capsys.readouterr().out == "said submit\n"


@pytest.mark.parametrize(
    "arguments", [[], ["format"], ["build", "now"], ["inspect"], ["inspect", "me"], ["--help"]]
)
def test_wrong_use_shows_the_usage(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run_client(arguments) == 2
    assert "usage: cuda-agent build" in capsys.readouterr().err


def test_without_a_judge_it_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv(CHANNEL_VARIABLE, raising=False)
    assert run_client(["build"]) == 2
    assert "inside an agent's workspace" in capsys.readouterr().err
    monkeypatch.setenv(CHANNEL_VARIABLE, str(tmp_path / "none"))
    assert run_client(["build"]) == 2
    assert "did not answer" in capsys.readouterr().err


def test_an_answer_cut_short_is_no_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with Channel(tmp_path / "s", lambda verb, _: Answer(0, "x" * (2 << 20))) as channel:
        monkeypatch.setenv(CHANNEL_VARIABLE, str(channel.path))
        assert run_client(["build"]) == 2
    assert "did not answer" in capsys.readouterr().err


def test_starts_without_anything_heavy() -> None:
    program = "import sys, cuda_agent.environment.client; print(*sorted(sys.modules))"
    output = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    ).stdout
    assert not {"torch", "pydantic", "numpy", "tyro", "asyncio"} & set(output.split())


@pytest.mark.timing
def test_starts_in_a_moment() -> None:
    def measure(program: str) -> float:
        started = time.perf_counter()
        subprocess.run([sys.executable, "-c", program], check=True)
        return time.perf_counter() - started

    extra_s = min(measure("import cuda_agent.environment.client") for _ in range(5)) - min(
        measure("pass") for _ in range(5)
    )
    assert extra_s < 0.06

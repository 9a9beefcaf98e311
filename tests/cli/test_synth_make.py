"""`cuda-agent synth` makes a data set, with or without a language model, and stops when it is told to."""

from pathlib import Path

import pytest

from cuda_agent.cli import synth_make
from cuda_agent.cli.main import main
from cuda_agent.rundir import RunDir
from cuda_agent.synthesis.crawl import Crawl
from cuda_agent.synthesis.pipeline import build_job
from cuda_agent.synthesis.recipe import Recipe
from cuda_agent.synthesis.table import load_table
from cuda_agent.tasks.dataset import read_dataset
from tests.chat_server import ChatServer, say


@pytest.fixture
def _no_crawl(monkeypatch: pytest.MonkeyPatch) -> None:
    """The crawl takes ten seconds, and has its own tests."""
    monkeypatch.setattr(
        synth_make, "crawl", lambda: Crawl(operators=load_table("torch").operators, left_out={})
    )


@pytest.mark.usefixtures("_no_crawl")
def test_a_run_stops_after_its_minutes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["synth", "--count", "9", "--minutes", "0.0001"]
    assert main([*arguments, "--out", str(tmp_path / "run")]) == 0
    assert main([*arguments, "--resume", str(tmp_path / "run")]) == 0
    out = capsys.readouterr().out
    assert "0 kept of 0 candidates" in out
    assert "stopped by --minutes, 9 were wished" in out
    assert read_dataset(tmp_path / "run" / "tasks.parquet") == ()


@pytest.mark.usefixtures("_no_crawl")
def test_a_language_model_is_asked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with ChatServer(script=lambda heard: say("I would rather not.")) as server:
        arguments = ["synth", "--composer", "llm", "--policy", "openai:m", "--base-url", server.address]
        assert main([*arguments, "--count", "1", "--out", str(tmp_path / "run")]) == 2
        assert "Write one PyTorch program" in server.heard[0].body["messages"][0]["content"]
    captured = capsys.readouterr()
    assert "reply: the reply holds no code block" in captured.out
    assert "50 fell to the filter reply" in captured.err
    assert read_dataset(tmp_path / "run" / "tasks.parquet") == ()
    assert (
        "| reply | 50 | 0 | the reply holds no code block |" in (tmp_path / "run" / "README.md").read_text()
    )


@pytest.mark.usefixtures("_no_crawl")
def test_two_runs_at_once_in_one_folder_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["synth", "--count", "9", "--minutes", "0.0001"]
    assert main([*arguments, "--out", str(tmp_path / "run")]) == 0
    job = build_job(Recipe(), load_table("torch").operators, kernelbench=None)
    with RunDir.resume(tmp_path / "run", job):
        assert main([*arguments, "--resume", str(tmp_path / "run")]) == 2
    assert main([*arguments, "--out", str(tmp_path / "run")]) == 2
    assert "is being written by process" in capsys.readouterr().err
    assert main([*arguments, "--resume", str(tmp_path / "run")]) == 0

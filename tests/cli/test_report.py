"""The verb `report`."""

import shutil
from pathlib import Path

import pytest

from cuda_agent.cli.main import main
from tests.report.conftest import RUN


def test_pages_are_made_and_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, capsys: pytest.CaptureFixture[str]
) -> None:
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    assert main(["report", str(RUN), "--out", str(tmp_path / "site"), "--open"]) == 0
    assert "10 pages" in capsys.readouterr().out
    assert opened == [(tmp_path / "site" / "index.html").as_uri()]
    assert (tmp_path / "site" / "index.html").exists()


def test_no_run_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report"]) == 2
    assert "name at least one run" in capsys.readouterr().err


def test_a_folder_of_something_else_is_left_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "index.html").write_text("my own page")
    assert main(["report", str(RUN), "--out", str(tmp_path)]) == 2
    assert "choose another folder" in capsys.readouterr().err
    assert (tmp_path / "index.html").read_text() == "my own page"


def test_a_damaged_run_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.copytree(RUN, tmp_path / "run")
    (tmp_path / "run" / "trajectories.jsonl").write_text("{}\n")
    assert main(["report", str(tmp_path / "run"), "--out", str(tmp_path / "site")]) == 2
    assert "line 1" in capsys.readouterr().err

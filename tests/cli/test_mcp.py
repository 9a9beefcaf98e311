"""The verb `mcp`: wrong use is told before anything is started. (Serving is in mcp/test_server.py.)"""

from pathlib import Path

import pytest

from cuda_agent.cli.main import main

pytest.importorskip("mcp", reason="needs the extra mcp")


def test_an_empty_token_is_wrong_use(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("NO_SUCH_TOKEN", raising=False)
    assert main(["mcp", "--http", "--token-env", "NO_SUCH_TOKEN"]) == 2
    assert "the variable is empty" in capfd.readouterr().err


def test_an_open_address_without_a_token_is_wrong_use(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["mcp", "--http", "--host", "0.0.0.0", "--port", "0", "--target", "cpu"]) == 2
    assert "name a variable that holds a secret with --token-env" in capfd.readouterr().err


def test_a_task_that_is_none_is_wrong_use(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "task.py").write_text("x = 1\n")
    assert main(["mcp", str(tmp_path / "task.py")]) == 2
    assert "Model is not defined" in capfd.readouterr().err

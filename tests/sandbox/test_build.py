"""The sandbox that works here is chosen; one that does not work is named with its mend."""

import logging
import os
from pathlib import Path

import pytest

from cuda_agent.errors import SandboxError
from cuda_agent.sandbox.build import build_sandbox, find_bubblewrap_problem
from cuda_agent.sandbox.protocol import Containment, Sandbox


@pytest.fixture
def broken_bubblewrap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A PATH whose bwrap fails as it does where namespaces are forbidden."""
    (tmp_path / "bwrap").write_text(
        "#!/bin/sh\necho 'bwrap: No permissions to create namespace' >&2\nexit 1\n"
    )
    (tmp_path / "bwrap").chmod(0o755)
    path = f"{tmp_path}:{os.environ['PATH']}"
    monkeypatch.setenv("PATH", path)
    monkeypatch.setattr("cuda_agent.sandbox.bubblewrap.OUTER_ENVIRONMENT", {"PATH": path})


def test_process_is_given_when_asked_for() -> None:
    assert build_sandbox(Containment.PROCESS).containment is Containment.PROCESS


def test_auto_prefers_bubblewrap(bubblewrap: Sandbox) -> None:
    assert find_bubblewrap_problem() == ""
    assert build_sandbox(Containment.AUTO).containment is bubblewrap.containment


@pytest.mark.usefixtures("broken_bubblewrap")
def test_auto_falls_back_with_a_loud_warning(caplog: pytest.LogCaptureFixture) -> None:
    logging.getLogger("cuda_agent").propagate = True
    assert build_sandbox(Containment.AUTO).containment is Containment.PROCESS
    assert "WITHOUT FILE OR NETWORK ISOLATION" in caplog.text
    assert "apt install bubblewrap" in caplog.text


@pytest.mark.usefixtures("broken_bubblewrap")
def test_asking_for_a_broken_bubblewrap_names_cause_and_mend() -> None:
    with pytest.raises(SandboxError, match=r"No permissions to create namespace.*SYS_ADMIN"):
        build_sandbox(Containment.BUBBLEWRAP)


def test_a_missing_program_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "bwrap and setpriv" in find_bubblewrap_problem()

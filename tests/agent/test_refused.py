"""A run says which of its tasks are refused, and only as long as they are."""

from pathlib import Path

import pytest

from cuda_agent.agent.refused import REFUSED, read_refused, write_refused
from cuda_agent.config import Config
from cuda_agent.errors import UserError
from cuda_agent.judge.result import TaskResult, TaskStatus
from cuda_agent.rundir import RunDir


def test_what_is_refused_comes_back_and_goes_with_its_reason(tmp_path: Path) -> None:
    refused = {"zero-1": TaskResult(status=TaskStatus.FAULTY, reason="zeros would pass")}
    with RunDir.create(tmp_path / "run", Config()) as run:
        assert read_refused(run.path) == {}
        write_refused(run, refused)
        assert read_refused(run.path) == refused
        write_refused(run, {})
        assert not (run.path / REFUSED).exists()


def test_a_damaged_file_is_told_with_its_mend(tmp_path: Path) -> None:
    (tmp_path / REFUSED).write_text('{"tasks": [')
    with pytest.raises(UserError, match=r"refused.json is damaged: `cuda-agent run --resume"):
        read_refused(tmp_path)

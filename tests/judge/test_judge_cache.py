"""Where the judge lets torch.compile keep what it built."""

from pathlib import Path

import pytest

from cuda_agent.errors import InfrastructureError
from cuda_agent.judge.task_process import find_compile_cache
from cuda_agent.tasks.task import Task


def test_each_task_has_a_folder_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tiny_task: Task
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    other = Task(name="other", source="# other")
    assert find_compile_cache(tiny_task).is_dir()
    assert find_compile_cache(tiny_task) != find_compile_cache(other)


def test_a_cache_that_cannot_be_made_is_named_with_its_mend(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tiny_task: Task
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with pytest.raises(InfrastructureError, match=rf"{tmp_path}/file/.*let XDG_CACHE_HOME name"):
        find_compile_cache(tiny_task)

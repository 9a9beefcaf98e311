"""Where the judge lets torch.compile keep what it built."""

import os
import stat
from pathlib import Path

import pytest

from cuda_agent.errors import InfrastructureError
from cuda_agent.judge import compile_cache
from cuda_agent.judge.compile_cache import find_compile_cache, keep_compiled, lend_compiled
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


def test_what_is_kept_comes_back_and_may_be_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tiny_task: Task
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    made, lent = tmp_path / "made", tmp_path / "lent"
    (made / "ab").mkdir(parents=True)
    (made / "ab" / "kernel.so").write_bytes(b"machine code")
    keep_compiled(tiny_task, made)
    lent.mkdir()
    lend_compiled(tiny_task, lent)
    assert (lent / "ab" / "kernel.so").read_bytes() == b"machine code"
    assert {stat.S_IMODE(path.stat().st_mode) for path in (lent / "ab", lent / "ab" / "kernel.so")} == {
        0o777,
        0o666,
    }


def test_links_and_pipes_are_left_where_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tiny_task: Task
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    secret, made = tmp_path / "secret", tmp_path / "made"
    secret.mkdir()
    (secret / "key").write_text("secret")
    made.mkdir()
    (made / "file").symlink_to(secret / "key")
    (made / "folder").symlink_to(secret)
    os.mkfifo(made / "pipe")
    keep_compiled(tiny_task, made)
    assert list(find_compile_cache(tiny_task).rglob("*")) == []


def test_more_than_fits_is_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tiny_task: Task) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(compile_cache, "MAX_BYTES", 100)
    made = tmp_path / "made"
    made.mkdir()
    for name in "abc":
        (made / name).write_bytes(bytes(40))
        keep_compiled(tiny_task, made)
    assert len(list(find_compile_cache(tiny_task).iterdir())) == 2

"""Where the judge lets torch.compile keep what it built."""

import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from cuda_agent.errors import InfrastructureError
from cuda_agent.judge import compile_cache
from cuda_agent.judge.compile_cache import find_compile_cache, keep_compiled, lend_compiled
from cuda_agent.scratch import remove_tree
from cuda_agent.tasks.task import Task
from tests.deep_folders import make_deep
from tests.full_disk import full_disk


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


@pytest.mark.parametrize("levels", [20, 1200, 3000])
def test_folders_within_folders_end_neither_the_copying_nor_the_removing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tiny_task: Task, levels: int
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    made = tmp_path / "made"
    (made / "ab").mkdir(parents=True)
    (made / "ab" / "kernel.so").write_bytes(b"machine code")
    make_deep(made, levels)
    keep_compiled(tiny_task, made)
    kept = [path for path in find_compile_cache(tiny_task).rglob("*") if path.is_file()]
    assert [path.name for path in kept] == ["kernel.so"]
    remove_tree(made)
    assert not made.exists()


def test_only_so_many_files_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tiny_task: Task
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(compile_cache, "MAX_FILES", 5)
    made = tmp_path / "made"
    made.mkdir()
    for which in ("first", "second"):
        for number in range(4):
            (made / f"{which}{number}").touch()
        keep_compiled(tiny_task, made)
    assert len(list(find_compile_cache(tiny_task).iterdir())) == 5


def test_nobody_looks_through_a_flood(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tiny_task: Task
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(compile_cache, "_MAX_ENTRIES", 10)
    made = tmp_path / "made"
    for number in range(50):
        (made / str(number)).mkdir(parents=True)
        (made / str(number) / "file").touch()
    keep_compiled(tiny_task, made)
    assert len(list(find_compile_cache(tiny_task).rglob("file"))) <= 5


def test_names_that_are_no_text_come_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tiny_task: Task
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    made, lent = tmp_path / "made", tmp_path / "lent"
    names = {b"a\nb", b"\xff\xfe", b"-rf", b"n" * 255, b" "}
    for folder in (made, lent):
        folder.mkdir()
    for name in names:
        Path(os.fsdecode(os.fsencode(made) + b"/" + name)).touch()
    keep_compiled(tiny_task, made)
    lend_compiled(tiny_task, lent)
    assert set(os.listdir(os.fsencode(lent))) == names


def test_a_full_disk_keeps_and_lends_what_fits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tiny_task: Task
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    kept, made, lent = find_compile_cache(tiny_task), tmp_path / "made", tmp_path / "lent"
    for folder in (made, lent):
        folder.mkdir()
    for name, nbytes in (("a", 300), ("b", 30)):
        (made / name).write_bytes(bytes(nbytes))
    with full_disk(100):
        keep_compiled(tiny_task, made)
    assert os.listdir(kept) == ["b"]
    (kept / "a").write_bytes(bytes(300))
    with full_disk(100):
        lend_compiled(tiny_task, lent)
    assert os.listdir(lent) == ["b"]


def test_what_stands_in_the_way_of_a_file_leaves_the_others_and_no_rest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tiny_task: Task
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    kept, made = find_compile_cache(tiny_task), tmp_path / "made"
    (kept / "a" / "folder").mkdir(parents=True)
    made.mkdir()
    for name in ("a", "b"):
        (made / name).write_text("built")
    keep_compiled(tiny_task, made)
    assert {path.name for path in kept.iterdir()} == {"a", "b"}
    assert [path.name for path in (kept / "a").iterdir()] == ["folder"]


def test_a_place_that_is_lost_meanwhile_costs_no_more_than_what_was_built(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tiny_task: Task
) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "made").mkdir()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    keep_compiled(tiny_task, tmp_path / "made")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_what_cannot_be_read_is_built_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tiny_task: Task
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    kept, lent = find_compile_cache(tiny_task), tmp_path / "lent"
    lent.mkdir()
    for name in ("a", "b"):
        (kept / name).touch()
    (kept / "a").chmod(0)
    lend_compiled(tiny_task, lent)
    assert os.listdir(lent) == ["b"]


def test_over_all_tasks_so_many_bytes_are_kept_of_those_last_met(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(compile_cache, "LIMIT_BYTES", 250)
    made, lent = tmp_path / "made", tmp_path / "lent"
    for folder in (made, lent):
        folder.mkdir()
    (made / "kernel").write_bytes(bytes(100))
    tasks = [Task(name=f"t{number}", source=f"# {number}") for number in range(3)]
    for age, task in enumerate(tasks[:2]):
        keep_compiled(task, made)
        os.utime(find_compile_cache(task), (age, age))
    lend_compiled(tasks[0], lent)
    keep_compiled(tasks[2], made)
    kept = [task for task in tasks if (find_compile_cache(task) / "kernel").exists()]
    assert kept == [tasks[0], tasks[2]]


def test_what_is_evicted_while_it_is_kept_or_lent_is_built_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(compile_cache, "LIMIT_BYTES", 2_000)
    made = tmp_path / "made"
    made.mkdir()
    for number in range(20):
        (made / f"kernel{number}").write_bytes(bytes(40))

    def keep_and_lend(number: int) -> int:
        task = Task(name="t", source=f"# {number % 5}")
        lent = tmp_path / f"lent{number}"
        lent.mkdir()
        keep_compiled(task, made)
        lend_compiled(task, lent)
        return len([path for path in lent.iterdir() if path.stat().st_size not in (0, 40)])

    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(keep_and_lend, range(40))) == {0}

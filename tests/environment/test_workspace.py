"""A workspace is laid whole, and its files are safe to touch from outside."""

import os
from pathlib import Path

import pytest

from cuda_agent.environment.workspace import MAX_TEXT_BYTES, Workspace, WorkspaceError, lay_workspace
from cuda_agent.scratch import remove_tree
from cuda_agent.tasks.target import Target
from cuda_agent.tasks.task import Task
from tests.deep_folders import make_deep


@pytest.fixture
def workspace(tmp_path: Path, tiny_task: Task) -> Workspace:
    return lay_workspace(tiny_task, target=Target.CPU, root=tmp_path / "work")


def test_everything_is_there(workspace: Workspace, tiny_task: Task) -> None:
    files = workspace.list_files()
    assert {
        "SKILL.md",
        "model.py",
        "references/cpu.md",
        "references/hopper.md",
        "references/kernel.h",
    } <= set(files)
    assert "examples/kernels/silu_scale.cpp" in files
    assert workspace.read_text("model.py") == tiny_task.source
    assert (workspace.root / "kernels").is_dir()


def test_skill_front_matter_names_and_describes(workspace: Workspace) -> None:
    lines = workspace.read_text("SKILL.md").splitlines()
    assert lines[0] == "---"
    assert lines[1].startswith("name: ")
    assert lines[2].startswith("description: ")
    assert lines[3] == "---"


def test_written_text_is_read_back_by_relative_and_absolute_path(workspace: Workspace) -> None:
    workspace.write_text("kernels/a.cpp", "// größer\n")
    assert workspace.read_text(f"{workspace.root}/kernels/a.cpp") == "// größer\n"


@pytest.mark.parametrize(
    "path", ["model.py", "SKILL.md", "references/cpu.md", "references/new.md", "./model.py"]
)
def test_read_only_files_refuse(workspace: Workspace, path: str) -> None:
    with pytest.raises(WorkspaceError, match="read-only"):
        workspace.write_text(path, "changed")


@pytest.mark.parametrize("path", ["../x", "/etc/passwd", "", "kernels", "none/x", "model.py/x"])
def test_unreadable_paths_are_explained(workspace: Workspace, path: str) -> None:
    with pytest.raises(WorkspaceError, match="cannot be used"):
        workspace.read_text(path)


def test_links_are_neither_followed_nor_listed(workspace: Workspace) -> None:
    (workspace.root / "link").symlink_to("/etc/passwd")
    assert "link" not in workspace.list_files()
    with pytest.raises(WorkspaceError, match="link"):
        workspace.read_text("link")


def test_folders_deeper_than_the_stack_are_listed(workspace: Workspace) -> None:
    make_deep(workspace.root / "kernels", 1200)
    assert any(path.endswith("/a/file") for path in workspace.list_files())
    remove_tree(workspace.root / "kernels")


def test_a_flood_of_files_is_listed_up_to_a_limit(workspace: Workspace) -> None:
    for number in range(20):
        (workspace.root / "kernels" / str(number)).mkdir()
        for name in range(1000):
            os.close(os.open(f"{workspace.root}/kernels/{number}/{name}", os.O_CREAT))
    assert len(workspace.list_files()) == 1000


def test_binary_and_giant_files_are_explained(workspace: Workspace) -> None:
    (workspace.root / "binary").write_bytes(b"\xff\xfe")
    with pytest.raises(WorkspaceError, match="not a text file"):
        workspace.read_text("binary")
    (workspace.root / "giant").write_bytes(b" " * (MAX_TEXT_BYTES + 1))
    with pytest.raises(WorkspaceError, match="more than the allowed"):
        workspace.read_text("giant")
    with pytest.raises(WorkspaceError, match="a file may have"):
        workspace.write_text("new", " " * (MAX_TEXT_BYTES + 1))


def test_mounts_are_writable_but_for_what_is_read_only(workspace: Workspace) -> None:
    first, *fixed = workspace.mounts
    assert first.path == workspace.root
    assert first.writable
    assert {mount.path.name for mount in fixed} == {"SKILL.md", "references", "examples", "model.py"}
    assert not any(mount.writable for mount in fixed)
    (workspace.root / "model.py").unlink()
    assert "model.py" not in {mount.path.name for mount in workspace.mounts}

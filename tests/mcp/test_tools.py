"""The tools do what a workspace's commands do, and say what to do instead when they cannot."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from cuda_agent.errors import TaskError, UserError
from cuda_agent.mcp.tools import MAX_WRITTEN, Tools
from cuda_agent.mcp.workspaces import OpenWorkspaces, WorkspacesConfig
from cuda_agent.sandbox.protocol import Sandbox
from cuda_agent.tasks.target import Target
from cuda_agent.tasks.task import Task


@pytest.fixture
def tools(tmp_path: Path, sandbox: Sandbox, tiny_task: Task) -> Iterator[Tools]:
    wish = WorkspacesConfig(target=Target.CPU, max_open=1)
    with OpenWorkspaces(wish, sandbox=sandbox, folder=tmp_path) as workspaces:
        yield Tools([tiny_task], workspaces)


def test_tasks_of_one_name_are_told_apart_by_their_ids(
    tmp_path: Path, sandbox: Sandbox, tiny_task: Task
) -> None:
    other = tiny_task.model_copy(update={"source": tiny_task.source + "\n"})
    wish = WorkspacesConfig(target=Target.CPU, max_open=1)
    with OpenWorkspaces(wish, sandbox=sandbox, folder=tmp_path) as workspaces:
        found = Tools([tiny_task, other], workspaces).list_tasks()
    assert [each.name for each in found] == [tiny_task.task_id, other.task_id]


def test_tasks_have_a_line_each(tools: Tools) -> None:
    (task,) = tools.list_tasks()
    assert (task.name, task.about) == ("tiny", "Scaled ReLU: small enough to judge in a moment.")


def test_the_skill_can_be_read_before_a_task_is_opened(tools: Tools) -> None:
    assert "`model.py` is the reference" in tools.read_skill()
    assert "EXPORT_KERNEL" in tools.read_skill("references/kernel.h")
    with pytest.raises(UserError, match=r"no file '\.\./secret'; it has SKILL\.md, examples/"):
        tools.read_skill("../secret")


def test_what_is_no_task_is_refused_with_the_reason(tools: Tools) -> None:
    with pytest.raises(UserError, match="list_tasks names them"):
        tools.open_task("tin")
    with pytest.raises(TaskError, match="Model is not defined"):
        tools.open_module("x = 1\n")
    with pytest.raises(TaskError, match="cannot name a task"):
        tools.open_module("x = 1\n", name="../../etc")


def test_work_in_a_workspace(tools: Tools, tiny_task: Task) -> None:
    opened = tools.open_module(tiny_task.source, name="mine")
    key = opened.workspace
    assert {"SKILL.md", "model.py", "references/kernel.h"} <= set(opened.files)
    assert tools.read_file(key, path="model.py") == tiny_task.source
    with pytest.raises(UserError, match=r"model\.py is read-only"):
        tools.write_file(key, "model.py", text="")
    with pytest.raises(UserError, match="cannot be used"):
        tools.write_file(key, "../outside", text="")
    assert tools.write_file(key, "kernels/a.cpp", text="int a\n") == "kernels/a.cpp: 6 characters written"
    assert "kernels/a.cpp" in tools.list_files(key)
    assert tools.build(key).startswith("rules: bad_files: ")
    for number in range(MAX_WRITTEN - 1):
        tools.write_file(key, f"notes/{number}", text="")
    with pytest.raises(UserError, match=f"has {MAX_WRITTEN} files already"):
        tools.write_file(key, "model_new.py", text="")
    assert tools.write_file(key, "kernels/a.cpp", text="").endswith(": 0 characters written")
    assert tools.submit(key).endswith("\nreward: -1")
    assert tools.close_task(key) == "closed; submissions kept: 1"
    with pytest.raises(UserError, match="no such workspace"):
        tools.list_files(key)

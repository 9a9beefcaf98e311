"""Workspaces are bounded in number, apart from one another, and gone when they are closed."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from cuda_agent.environment.submission import Submission
from cuda_agent.errors import UserError
from cuda_agent.mcp.workspaces import OpenWorkspaces, WorkspacesConfig
from cuda_agent.rundir import read_saved_config
from cuda_agent.sandbox.protocol import Sandbox
from cuda_agent.tasks.target import Target
from cuda_agent.tasks.task import Task


@pytest.fixture
def workspaces(tmp_path: Path, sandbox: Sandbox) -> Iterator[OpenWorkspaces]:
    wish = WorkspacesConfig(target=Target.CPU, max_open=2, idle_s=3600)
    with OpenWorkspaces(wish, sandbox=sandbox, folder=tmp_path) as opened:
        yield opened


def test_none_may_be_open(tmp_path: Path, sandbox: Sandbox, tiny_task: Task) -> None:
    wish = WorkspacesConfig(target=Target.CPU, max_open=0)
    none = OpenWorkspaces(wish, sandbox=sandbox, folder=tmp_path)
    with none, pytest.raises(UserError, match="0 workspaces are open, and no more may be"):
        none.open(tiny_task)
    with pytest.raises(UserError, match="the server is ending"):
        none.open(tiny_task)
    assert list(tmp_path.iterdir()) == []


def test_a_key_that_nobody_was_told_opens_nothing(workspaces: OpenWorkspaces) -> None:
    with pytest.raises(UserError, match="no such workspace is open"), workspaces.use("0" * 16):
        pass
    workspaces.close("0" * 16)


def test_each_has_files_of_its_own_and_no_more_than_the_limit(
    workspaces: OpenWorkspaces, tiny_task: Task
) -> None:
    one, two = workspaces.open(tiny_task), workspaces.open(tiny_task)
    with workspaces.use(one) as first, workspaces.use(two) as second:
        first.workspace.write_text("model_new.py", "mine")
        assert "model_new.py" not in second.workspace.list_files()
    with pytest.raises(UserError, match="2 workspaces are open, and no more may be: close one"):
        workspaces.open(tiny_task)
    workspaces.close(one)
    with pytest.raises(UserError, match="no such workspace"), workspaces.use(one):
        pass
    assert workspaces.open(tiny_task) not in (one, two)


def test_only_an_idle_one_gives_way(tmp_path: Path, sandbox: Sandbox, tiny_task: Task) -> None:
    wish = WorkspacesConfig(target=Target.CPU, max_open=1, idle_s=0)
    with OpenWorkspaces(wish, sandbox=sandbox, folder=tmp_path) as workspaces:
        one = workspaces.open(tiny_task)
        with workspaces.use(one), pytest.raises(UserError, match="no more may be"):
            workspaces.open(tiny_task)
        two = workspaces.open(tiny_task)
        with pytest.raises(UserError, match="no such workspace"), workspaces.use(one):
            pass
        with workspaces.use(two) as environment:
            assert environment.workspace.root.is_dir()
    assert not environment.workspace.root.exists()


def test_what_is_submitted_stays_as_a_run(
    workspaces: OpenWorkspaces, tmp_path: Path, tiny_task: Task
) -> None:
    """A refused submission is kept too; `cuda-agent export` finds the task in the same folder."""
    key = workspaces.open(tiny_task)
    with workspaces.use(key) as environment:
        environment.workspace.write_text("model_new.py", "import os\n")
        assert environment.submit().rules.status == "violation"
    workspaces.close(key)
    (folder,) = tmp_path.iterdir()
    assert read_saved_config(folder)["config"]["tasks"] == [tiny_task.model_dump()]
    sha = Submission({"model_new.py": b"import os\n"}).sha
    assert (folder / "submissions" / sha / "evaluation.json").is_file()

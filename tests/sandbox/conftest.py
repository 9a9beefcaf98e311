"""Both sandboxes, and a workspace for a command."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from cuda_agent.sandbox.bubblewrap import BubblewrapSandbox
from cuda_agent.sandbox.process import ProcessSandbox
from cuda_agent.sandbox.protocol import Command, Containment, Limits, Mount, Sandbox

MakeCommand = Callable[..., Command]


@pytest.fixture(params=[Containment.BUBBLEWRAP, Containment.PROCESS])
def each_sandbox(request: pytest.FixtureRequest) -> Sandbox:
    """Every sandbox in turn."""
    if request.param is Containment.PROCESS:
        return ProcessSandbox()
    return request.getfixturevalue("bubblewrap")  # type: ignore[no-any-return]


@pytest.fixture
def bubblewrap() -> Sandbox:
    """Bubblewrap, where it is installed (a broken one must fail, not hide)."""
    if shutil.which("bwrap") is None:
        pytest.skip("needs bubblewrap")
    return BubblewrapSandbox()


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """An empty folder for a command to write in."""
    folder = tmp_path / "workspace"
    folder.mkdir()
    return folder


@pytest.fixture
def make_command(workspace: Path) -> MakeCommand:
    """Builds a command that runs in the workspace."""

    def make(*argv: str, limits: Limits | None = None, **fields: object) -> Command:
        values: dict[str, object] = {"mounts": [Mount(path=workspace, writable=True)], "cwd": workspace}
        values |= {"limits": limits or Limits(wall_s=20.0)} | fields
        return Command(argv=argv, **values)  # type: ignore[arg-type]

    return make

"""The shell runs in the sandbox and tells how each command ended."""

import time
from pathlib import Path

import pytest

from cuda_agent.agent.tools.bash import BashTool
from cuda_agent.agent.tools.tool import InvalidCallError
from cuda_agent.sandbox.protocol import Command, Limits, Mount, Sandbox


@pytest.fixture
def bash(sandbox: Sandbox, tmp_path: Path) -> BashTool:
    """A shell in an empty folder, at most 10 seconds a command."""
    folder = tmp_path / "workspace"
    folder.mkdir()
    shell = Command(
        argv=("true",),
        cwd=folder,
        mounts=(Mount(path=folder, writable=True),),
        env={"CHANNEL": "here"},
        limits=Limits(wall_s=10.0),
    )
    return BashTool(sandbox, shell)


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("echo out; echo err >&2; echo end", "out\nerr\nend"),
        ("true", "[no output]"),
        ("echo no; exit 3", "no\n[exit status 3]"),
        ("false", "[exit status 1]"),
        ("kill -SEGV $$", "[killed by signal 11]"),
        ("echo $CHANNEL; cat", "here"),
        ("printf 'a\\xffb'", "a\ufffdb"),
        ("cat <<'END'\n$x `y`\nEND", "$x `y`"),
    ],
)
def test_what_a_command_says_and_how_it_ended(bash: BashTool, command: str, said: str) -> None:
    assert bash.run({"command": command}) == said


def test_files_live_on_and_nothing_else(bash: BashTool) -> None:
    assert (
        bash.run({"command": "mkdir -p kernels && echo 1 > kernels/a && cd kernels && export X=1"})
        == "[no output]"
    )
    assert bash.run({"command": "cat kernels/a; echo [$X]"}) == "1\n[]"


def test_a_command_that_hangs_is_killed_with_what_it_said(bash: BashTool) -> None:
    start_s = time.monotonic()
    assert bash.run({"command": "echo begun; sleep 60", "timeout_s": 0.5}) == "begun\n[killed after 0.5 s]"
    assert time.monotonic() - start_s < 8.0


def test_the_limit_cannot_be_raised_by_asking(sandbox: Sandbox, tmp_path: Path) -> None:
    shell = Command(argv=("true",), cwd=tmp_path, mounts=(Mount(path=tmp_path),), limits=Limits(wall_s=0.5))
    assert BashTool(sandbox, shell).run({"command": "sleep 60", "timeout_s": 900}) == "[killed after 0.5 s]"


def test_a_flood_keeps_head_and_tail(bash: BashTool) -> None:
    said = bash.run({"command": "echo first; yes | head -c 9000000; echo last"})
    assert said.startswith("first\ny\n")
    assert said.endswith("y\nlast")
    assert "cut ...]" in said
    assert len(said) < 17_000


def test_unusable_arguments_are_no_command(bash: BashTool) -> None:
    with pytest.raises(InvalidCallError, match="command: Field required"):
        bash.run({"cmd": "ls"})

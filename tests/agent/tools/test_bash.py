"""The shell runs in the sandbox and tells how each command ended."""

import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from pydantic import JsonValue

from cuda_agent.agent.tools.bash import BashTool
from cuda_agent.agent.tools.commands import Commands
from cuda_agent.agent.tools.outputs import Outputs
from cuda_agent.agent.tools.tool import InvalidCallError
from cuda_agent.environment.pause import Company
from cuda_agent.sandbox.protocol import Command, Limits, Mount, Sandbox


@pytest.fixture
def commands(sandbox: Sandbox) -> Iterator[Commands]:
    """An episode's commands."""
    with Commands(sandbox, Company()) as opened:
        yield opened


@pytest.fixture
def bash(commands: Commands, tmp_path: Path) -> BashTool:
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
    return BashTool(commands, shell, Outputs(folder))


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


def test_after_a_command_was_killed_the_next_one_works(bash: BashTool) -> None:
    assert bash.run({"command": "kill -9 $$"}).endswith("[killed by signal 9]")
    assert bash.run({"command": "sleep 60", "timeout_s": 0.2}) == "[killed after 0.2 s]"
    assert bash.run({"command": "echo still here"}) == "still here"


@pytest.mark.slow
def test_a_command_that_is_silent_for_long_is_waited_for(commands: Commands, tmp_path: Path) -> None:
    shell = Command(argv=("true",), cwd=tmp_path, mounts=(Mount(path=tmp_path),), limits=Limits(wall_s=60))
    bash = BashTool(commands, shell, Outputs(tmp_path))
    start_s = time.monotonic()
    assert bash.run({"command": "sleep 12; echo built"}) == "built"
    assert time.monotonic() - start_s >= 12.0


def test_the_limit_cannot_be_raised_by_asking(commands: Commands, tmp_path: Path) -> None:
    shell = Command(argv=("true",), cwd=tmp_path, mounts=(Mount(path=tmp_path),), limits=Limits(wall_s=0.5))
    bash = BashTool(commands, shell, Outputs(tmp_path))
    assert bash.run({"command": "sleep 60", "timeout_s": 900}) == "[killed after 0.5 s]"


def test_a_flood_keeps_head_and_tail(bash: BashTool) -> None:
    said = bash.run({"command": "echo first; yes | head -c 9000000; echo last"})
    assert said.startswith("first\ny\n")
    assert said.endswith("y\nlast")
    assert len(said) < 17_000
    found = re.search(r"\n\[\.\.\. (\d+) characters cut; all of it: (outputs/001\.txt) \.\.\.\]\n", said)
    assert found is not None
    # Of a flood not all is read, but far more than is shown, and the agent's own shell can read on.
    assert bash.run({"command": f"head -c 8 {found[2]}; wc -c < {found[2]}"}).startswith("first\ny\n4194")


def test_all_of_a_long_output_is_in_the_file_that_the_note_names(bash: BashTool) -> None:
    said = bash.run({"command": "seq 20000"})
    assert "all of it: outputs/001.txt" in said
    assert bash.run({"command": "seq 20000 | head -c -1 | cmp - outputs/001.txt && echo same"}) == "same"


def test_a_background_command_is_started_read_and_ends(bash: BashTool) -> None:
    said = bash.run({"command": "echo one; until [ -e go ]; do sleep 0.05; done; echo two; exit 3",
                     "background": True})  # fmt: skip
    assert said == "[job 1 started; read it with job=1, end it with job=1 and stop=true]"
    assert re.fullmatch(r"one\n\[job 1 still runs after \d s\]", bash.run({"job": 1, "timeout_s": 0.5}))
    assert bash.run({"command": "touch go"}) == "[no output]"
    assert bash.run({"job": 1}) == "two\n[exit status 3]"
    assert bash.run({"job": 1}) == "[exit status 3]"


def test_a_background_command_is_stopped_with_all_it_started(bash: BashTool) -> None:
    command = "(while true; do date +%N > beat; sleep 0.02; done) & echo up; wait"
    bash.run({"command": command, "background": True})
    assert bash.run({"command": "until [ -s beat ]; do sleep 0.05; done; echo seen"}) == "seen"
    assert re.fullmatch(r"up\n\[job 1 stopped after \d s\]", bash.run({"job": 1, "stop": True}))
    assert bash.run({"command": "cat beat > a; sleep 0.3; cmp a beat && echo still"}) == "still"


def test_only_so_many_run_in_the_background(bash: BashTool) -> None:
    for number in range(1, 5):
        assert bash.run({"command": "sleep 60", "background": True}).startswith(f"[job {number} started")
    refused = "error: jobs 1, 2, 3, 4 are running; stop one, or wait for one"
    assert bash.run({"command": "sleep 60", "background": True}) == refused
    bash.run({"job": 2, "stop": True})
    assert bash.run({"command": "sleep 60", "background": True}).startswith("[job 5 started")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({}, "give either command, or the job"),
        ({"command": "ls", "job": 1}, "give either command, or the job"),
        ({"job": 7}, "there is no job 7; those started are: none"),
    ],
)
def test_calls_that_make_no_sense_are_no_command(
    bash: BashTool, arguments: dict[str, JsonValue], words: str
) -> None:
    with pytest.raises(InvalidCallError, match=words):
        bash.run(arguments)


def test_words_of_a_broken_sandbox_are_believed_only_after_a_trial(bash: BashTool) -> None:
    assert bash.run({"command": "echo bwrap: no; exit 1"}) == "bwrap: no\n[exit status 1]"


def test_unusable_arguments_are_no_command(bash: BashTool) -> None:
    with pytest.raises(InvalidCallError, match="cmd: Extra inputs are not permitted"):
        bash.run({"cmd": "ls"})

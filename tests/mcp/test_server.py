"""The official client against the server: in one process, over HTTP, and over stdio."""

import contextlib
import os
import secrets
import signal
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from cuda_agent.expert.study import study_task
from cuda_agent.expert.tune import build_variants
from cuda_agent.mcp.workspaces import OpenWorkspaces, WorkspacesConfig
from cuda_agent.sandbox.protocol import Sandbox
from cuda_agent.tasks.target import Target
from cuda_agent.tasks.task import Task
from tests.judge_cases import TASKS, TESTS

pytest.importorskip("mcp", reason="needs the extra mcp")
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client

from cuda_agent.errors import ConfigError
from cuda_agent.mcp.server import Address, build_server, serve
from cuda_agent.mcp.tools import Tools

SECRET = "a secret of the test"
END_S = 20
TASK = TASKS / "relu.py"
EXAMPLE = TESTS.parent / "examples" / "masked_softmax.py"


def run(client: Any, work: Callable[[Client], Awaitable[None]]) -> None:  # noqa: ANN401  a URL, transport or server
    async def connect() -> None:
        async with Client(client) as connected:
            await work(connected)

    anyio.run(connect)


async def ask(client: Client, tool: str, **arguments: str) -> tuple[bool, str, Any]:
    """Call a tool: whether it failed, its text, and its structure."""
    result: Any = await client.call_tool(tool, arguments)
    return result.is_error, result.content[0].text if result.content else "", result.structured_content


async def do_a_whole_task(client: Client, name: str, *, write: Callable[[str], Mapping[str, str]]) -> str:
    """From the list of tasks to a submission that passed every stage; gives the last line, the reward.

    `write` makes the files out of the reference's source.
    """
    _, _, listed = await ask(client, "list_tasks")
    assert name in [task["name"] for task in listed["result"]]
    assert "`model.py` is the reference" in (await ask(client, "read_skill"))[1]
    _, _, opened = await ask(client, "open_task", name=name)
    key = opened["workspace"]
    _, source, _ = await ask(client, "read_file", workspace=key, path="model.py")
    assert "bad_files" in (await ask(client, "build", workspace=key))[1]
    for path, text in write(source).items():
        assert not (await ask(client, "write_file", workspace=key, path=path, text=text))[0]
    failed, told, _ = await ask(client, "submit", workspace=key)
    assert not failed, told
    stages = [line.split(" ")[:2] for line in told.splitlines() if line[0] != " "]
    assert stages[:4] == [
        ["rules:", "ok"], ["build:", "ok"], ["verify:", "ok"], ["profile:", "ok"],
    ], told  # fmt: skip
    assert (await ask(client, "close_task", workspace=key))[1] == "closed; submissions kept: 1"
    return told.splitlines()[-1]


def list_descendants() -> set[int]:
    """Ids of all processes that this one, or one of them, has started."""
    parents = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            parents[int(path.parent.name)] = int(path.read_text().rpartition(")")[2].split()[1])
    found = {os.getpid()}
    while more := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= more
    return found - {os.getpid()}


def find_workspaces(mark: str) -> list[Path]:
    """Folders of environments whose reference holds a mark; others on this machine have theirs."""
    # os.walk passes over folders that others remove meanwhile, where Path.glob raises.
    places = [Path(folder) for folder, _, _ in os.walk(tempfile.gettempdir())]
    named = [place for place in places if place.name.startswith("agent-")]
    return [place for place in named if mark in read_or_nothing(place / "workspace" / "model.py")]


def read_or_nothing(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError:
        return ""


def test_every_tool_is_told_and_errors_are_what_they_say(
    tmp_path: Path, sandbox: Sandbox, tiny_task: Task
) -> None:
    async def work(client: Client) -> None:
        tools: Any = (await client.list_tools()).tools
        assert {tool.name for tool in tools} == {
            "build", "close_task", "inspect", "list_files", "list_tasks", "open_module", "open_task",
            "profile", "read_file", "read_skill", "submit", "verify", "write_file",
        }  # fmt: skip
        assert all(len(tool.description) > 20 for tool in tools)
        (write,) = (tool for tool in tools if tool.name == "write_file")
        assert set(write.input_schema["properties"]) == {"workspace", "path", "text"}
        failed, text, _ = await ask(client, "open_task", name="other")
        assert failed
        assert "no task is called 'other'; list_tasks names them" in text
        failed, text, _ = await ask(client, "list_files", workspace="x")
        assert failed
        assert "no such workspace is open" in text

    wish = WorkspacesConfig(target=Target.CPU)
    with OpenWorkspaces(wish, sandbox=sandbox, folder=tmp_path) as workspaces:
        run(build_server(Tools([tiny_task], workspaces)), work)


def test_an_open_address_needs_a_token(tmp_path: Path, sandbox: Sandbox) -> None:
    wish = WorkspacesConfig(target=Target.CPU)
    with OpenWorkspaces(wish, sandbox=sandbox, folder=tmp_path) as workspaces:
        server = build_server(Tools([], workspaces))
        with pytest.raises(ConfigError, match="--token-env"):
            serve(server, Address(host="0.0.0.0", port=0, token=""))


@contextmanager
def start_http(folder: Path, *, sends: signal.Signals) -> Iterator[str]:
    """A server of this machine's own, ended by a signal; gives its URL."""
    command = [sys.executable, "-m", "cuda_agent.cli.main", "mcp", str(TASK), str(EXAMPLE)]
    command += [
        "--http",
        "--port",
        "0",
        "--target",
        "cpu",
        "--token-env",
        "MCP_TOKEN",
        "--out",
        str(folder / "out"),
    ]
    env = {**os.environ, "MCP_TOKEN": SECRET}
    with subprocess.Popen(command, env=env, cwd=folder, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        line = next(line for line in process.stderr if line.startswith("serving "))
        yield line.split()[1]
        process.send_signal(sends)
        assert process.wait(END_S) == 130


def connect(url: str, token: str) -> Any:  # noqa: ANN401  the package's own transport
    return streamable_http_client(
        url, http_client=create_mcp_http_client(headers={"Authorization": f"Bearer {token}"})
    )


def test_without_the_token_nobody_is_served(tmp_path: Path) -> None:
    with start_http(tmp_path, sends=signal.SIGTERM) as url:
        for given in ("", "Bearer ", f"Bearer {SECRET}x", f"bearer {SECRET}", SECRET):
            request = urllib.request.Request(url, data=b"{}", headers={"Authorization": given})
            with pytest.raises(urllib.error.HTTPError) as refused:
                urllib.request.urlopen(request, timeout=5)
            assert refused.value.code == 401, given


def test_a_signal_ends_a_server_whose_client_says_nothing(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "cuda_agent.cli.main", "mcp", "--target", "cpu"]
    with subprocess.Popen(
        command, cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write('{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n')
        process.stdin.flush()
        assert '"id":1' in process.stdout.readline()
        process.send_signal(signal.SIGTERM)
        assert process.wait(END_S) == 130


def start_stdio(folder: Path) -> Any:  # noqa: ANN401  the package's own transport
    """A server of this machine's own for one client, ended by hanging up."""
    arguments = ["-m", "cuda_agent.cli.main", "mcp", str(TASK), str(EXAMPLE), "--target", "cpu"]
    parameters = StdioServerParameters(
        command=sys.executable,
        args=[*arguments, "--out", str(folder / "out")],
        env=dict(os.environ),
        cwd=folder,
    )
    return stdio_client(parameters)


def test_what_a_client_leaves_open_ends_with_the_server(tmp_path: Path) -> None:
    mark = f"# {secrets.token_hex()}\n"
    before, places, started = list_descendants(), [], set()

    async def work(client: Client) -> None:
        for name in ("one", "two"):
            failed, _, _ = await ask(client, "open_module", source=TASK.read_text() + mark, name=name)
            assert not failed
        places.extend(find_workspaces(mark))
        started.update(list_descendants() - before)

    run(start_stdio(tmp_path), work)
    assert len(places) == 2
    assert len(started) >= 3, "the server and a judge's process or more for each"
    assert find_workspaces(mark) == []
    assert not [path for path in places if path.exists()]
    assert list_descendants() & started == set()
    assert len(list((tmp_path / "out").glob("*/config.json"))) == 2


@pytest.mark.slow
@pytest.mark.timing
@pytest.mark.timeout(900)
@pytest.mark.parametrize("way", ["stdio", "http"])
def test_a_whole_task_to_the_highest_reward(tmp_path: Path, sandbox: Sandbox, way: str) -> None:
    """With what the expert writes."""
    rewards = []

    def write(source: str) -> dict[str, str]:
        study = study_task(sandbox, source, target=Target.CPU)
        return study.write_files(build_variants(Target.CPU, study.write_kernels)[0], is_first=True)

    async def work(client: Client) -> None:
        rewards.append(await do_a_whole_task(client, "masked_softmax", write=write))

    if way == "stdio":
        run(start_stdio(tmp_path), work)
    else:
        with start_http(tmp_path, sends=signal.SIGINT) as url:
            run(connect(url, SECRET), work)
    assert rewards == ["reward: 3"]
    assert len(list((tmp_path / "out").glob("masked_softmax-*/submissions/*/evaluation.json"))) == 1

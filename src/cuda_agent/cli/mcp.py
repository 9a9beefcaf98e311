"""Offer tasks and the judge to other agents, as a Model Context Protocol server on stdio or HTTP.

Exit status: 0 the client hung up; 2 wrong use; 130 interrupted.
"""

import os
from pathlib import Path
from typing import Literal

import tyro

from cuda_agent.cli.exit_code import ExitCode
from cuda_agent.cli.target import choose_target
from cuda_agent.config import Config
from cuda_agent.errors import ConfigError
from cuda_agent.mcp.tools import Tools
from cuda_agent.mcp.workspaces import OpenWorkspaces, WorkspacesConfig
from cuda_agent.rundir import build_default_path
from cuda_agent.sandbox.build import build_sandbox
from cuda_agent.sandbox.protocol import Containment
from cuda_agent.tasks.place import load_place
from cuda_agent.tasks.target import Target


class McpConfig(Config):
    """What to offer, and to whom."""

    tasks: tyro.conf.Positional[tuple[Path, ...]] = ()
    """Task files or data sets' rows (FILE.parquet#ID) to offer; a client can open modules of its own too."""
    http: bool = False
    """Serve streamable HTTP, at /mcp, instead of one client on stdin and stdout."""
    host: str = "127.0.0.1"
    """The address to serve on; one that others can reach needs --token-env."""
    port: int = 8765
    """The port to serve on; 0 takes a free one."""
    token_env: str = ""
    """The environment variable that holds the bearer token which HTTP clients must send."""
    target: Target | None = None
    """Where kernels run; without it cuda where a GPU and nvcc are, else cpu."""
    sandbox: Containment = Containment.AUTO
    """How untrusted commands are contained."""
    judge: Literal["strict", "paper"] = "strict"
    """How strictly submissions are judged."""
    max_open: int = 4
    """How many workspaces may be open at once; each keeps a judge in memory, about 1 GiB."""
    out: Path | None = None
    """Where submissions are kept, a run folder for each workspace; without it a fresh folder in runs/."""


def run_mcp(config: McpConfig) -> int:
    """Serve until the client hangs up or the server is interrupted, and leave nothing running."""
    try:
        from cuda_agent.mcp import server
    except ImportError as error:
        raise ConfigError(f"{error}: install the extra, pip install 'cuda-agent[mcp]'") from error
    token = os.environ.get(config.token_env, "") if config.token_env else ""
    if config.token_env and not token:
        raise ConfigError(f"--token-env {config.token_env}: the variable is empty; put the token into it")
    tasks = [task for place in config.tasks for task in load_place(place)]
    wish = WorkspacesConfig(target=choose_target(config.target), judge=config.judge, max_open=config.max_open)
    folder = config.out or build_default_path("mcp")
    try:
        with OpenWorkspaces(wish, sandbox=build_sandbox(config.sandbox), folder=folder) as workspaces:
            server.serve(
                server.build_server(Tools(tasks, workspaces)),
                server.Address(host=config.host, port=config.port, token=token) if config.http else None,
            )
    except KeyboardInterrupt:
        if config.http:
            raise
        # A thread of the mcp package's waits on stdin, and nothing wakes it: all else is closed by now.
        os._exit(ExitCode.INTERRUPTED)
    return ExitCode.DONE

"""Evaluate submissions for others, over HTTP: submit, status, result, cancel, health, metrics.

Any trainer or tool may then use this machine's devices: see docs/serving.md. Orders and results are kept in
the run's folder, so a server that was stopped or killed goes on with `--resume`.

Exit status: 0 stopped; 2 wrong use; 3 the machine failed; 130 interrupted.
"""

import os
from ipaddress import ip_address
from pathlib import Path

import uvicorn

from cuda_agent.cli.exit_code import ExitCode
from cuda_agent.cli.pool import PoolOptions, plan_workers
from cuda_agent.cli.run_folder import open_run, tell_run
from cuda_agent.cli.target import choose_target
from cuda_agent.environment.orders import OrderBook
from cuda_agent.environment.server import create_app
from cuda_agent.errors import ConfigError
from cuda_agent.tasks.target import Target
from cuda_agent.workers.worker_pool import WorkerPool


class ServeConfig(PoolOptions):
    """Where and what to serve."""

    target: Target | None = None
    """Which devices; without it cuda where a GPU and nvcc are, else cpu."""
    host: str = "127.0.0.1"
    """Address to listen on; anything but loopback needs a token."""
    port: int = 8321
    """Port to listen on."""
    token_env: str = "CUDA_AGENT_TOKEN"
    """Environment variable that holds the bearer token which clients must send."""
    max_open: int = 10_000
    """How many orders may wait; more are refused until there is room."""
    out: Path | None = None
    """The run's folder; without it a fresh one in runs/."""
    resume: Path | None = None
    """The folder of a server that was stopped."""


def run_serve(config: ServeConfig) -> int:
    """Serve until interrupted."""
    token = os.environ.get(config.token_env, "")
    if not token and not _is_loopback(config.host):
        raise ConfigError(f"{config.host} can be reached from elsewhere: set a token in ${config.token_env}")
    target = choose_target(config.target)
    workers = plan_workers(target, config)
    kept = config.replace(target=target, out=None, resume=None)
    with open_run("serve", kept, out=config.out, resume=config.resume) as run, WorkerPool(workers) as pool:
        tell_run(run)
        app = create_app(pool, OrderBook(run), token=token, max_open=config.max_open)
        uvicorn.run(app, host=config.host, port=config.port, log_level="warning", timeout_graceful_shutdown=2)
    return ExitCode.DONE


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"

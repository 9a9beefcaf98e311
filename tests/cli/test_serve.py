"""`cuda-agent serve` listens where it was told to, and nowhere without a token but here."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest

pytest.importorskip("fastapi")
COMMAND = [sys.executable, "-m", "cuda_agent.cli.main", "serve", "--target", "cpu"]


@pytest.mark.parametrize("host", ["0.0.0.0", "a.name.of.ours"])
def test_an_open_door_needs_a_token(host: str) -> None:
    env = {name: value for name, value in os.environ.items() if name != "CUDA_AGENT_TOKEN"}
    ended = subprocess.run([*COMMAND, "--host", host], env=env, capture_output=True, text=True, check=False)
    assert ended.returncode == 2
    assert "set a token in $CUDA_AGENT_TOKEN" in ended.stderr


def test_it_serves_until_it_is_interrupted(tmp_path: Path) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [*COMMAND, "--port", str(port), "--out", str(tmp_path / "run"), "--host-workers", "1"]
    with subprocess.Popen(command) as server:
        deadline_s = time.monotonic() + 60
        health: dict[str, object] = {}
        while not health and time.monotonic() < deadline_s:
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=10) as reply:
                    health = json.loads(reply.read())
            except OSError:
                time.sleep(0.2)
        server.send_signal(signal.SIGINT)
        assert server.wait(30) in (0, 130)
    assert health == {"status": "ok", "workers": {"host": 1, "device": 1}, "left_out": []}

"""The attempts succeed where nothing contains them: so their failing inside means something."""

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

from cuda_agent.sandbox import probe


def attempt(*arguments: str) -> bool:
    answer = subprocess.run(
        [sys.executable, "-I", probe.__file__, *arguments], capture_output=True, check=True
    )
    return bool(json.loads(answer.stdout.splitlines()[-1].lstrip(b"x"))["done"])


def test_reading_and_writing(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("x")
    assert attempt("read", str(tmp_path / "secret"))
    assert not attempt("read", str(tmp_path / "absent"))
    attempt("write", str(tmp_path / "made"), "/no/such/folder/made")
    assert (tmp_path / "made").exists()


def test_environment_and_signals() -> None:
    with subprocess.Popen(["sleep", "60"], env={"PROBED": "x"}) as bystander:
        assert attempt("environment", "PROBED", str(bystander.pid))
        assert attempt("signal", str(bystander.pid))
        assert bystander.wait(10) == -15
    assert not attempt("environment", "PROBED_BUT_ABSENT", "1")


def test_network() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = str(listener.getsockname()[1])
        assert attempt("connect", port)
    assert not attempt("connect", port)


def test_resources(tmp_path: Path) -> None:
    assert attempt("allocate", str(1 << 20))
    assert attempt("grow", str(tmp_path / "big"), str(1 << 20))
    assert os.stat(tmp_path / "big").st_size == 1 << 20
    assert attempt("flood", str(1 << 20))

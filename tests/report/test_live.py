"""The live view: new pages when files change, for this machine alone, and nothing beside the pages."""

import http.client
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from cuda_agent.errors import ConfigError
from cuda_agent.report.live import LOOPBACK, LiveServer, LiveSite
from tests.report.conftest import RUN


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run with one finished episode, whose second has not been."""
    shutil.copytree(RUN, tmp_path / "run")
    log = tmp_path / "run" / "trajectories.jsonl"
    log.write_text(log.read_text().split("\n")[0] + "\n")
    return tmp_path / "run"


@pytest.fixture
def port(run: Path) -> Iterator[int]:
    with LiveServer(LiveSite([run]), port=0) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield server.server_port
        server.shutdown()
        thread.join()


def ask(port: int, path: str, *, host: str = LOOPBACK) -> tuple[int, str]:
    connection = http.client.HTTPConnection(LOOPBACK, port, timeout=60)
    connection.putrequest("GET", path, skip_host=True)
    connection.putheader("Host", f"{host}:{port}")
    connection.endheaders()
    answer = connection.getresponse()
    return answer.status, answer.read().decode()


def test_pages_follow_the_run(port: int, run: Path) -> None:
    status, page = ask(port, "/")
    assert (status, 'id="live"' in page) == (200, True)
    _, before = ask(port, "/version")
    assert ask(port, "/version")[1] == before
    assert "focal_loss" not in ask(port, "/agent.html")[1]
    shutil.copy(RUN / "trajectories.jsonl", run)
    assert ask(port, "/version")[1] != before
    assert "focal_loss" in ask(port, "/agent.html")[1]


def test_a_run_damaged_meanwhile_leaves_the_last_pages(port: int, run: Path) -> None:
    _, before = ask(port, "/version")
    (run / "config.json").write_text("{")
    assert ask(port, "/version") == (200, before)
    assert ask(port, "/index.html")[0] == 200


@pytest.mark.parametrize(
    "path",
    [
        "/../config.json",
        "/..%2fconfig.json",
        "//etc/passwd",
        "/config.json",
        "/%2e%2e/x",
        "/index.html/../x",
        "/a\\b",
    ],
)
def test_nothing_beside_the_pages(port: int, path: str) -> None:
    assert ask(port, path)[0] == 404


def test_other_hosts_names_are_refused(port: int) -> None:
    assert ask(port, "/", host="evil.example")[0] == 403
    assert ask(port, "/", host="localhost")[0] == 200


def test_a_port_in_use(port: int, run: Path) -> None:
    with pytest.raises(ConfigError, match="choose another with --port"):
        LiveServer(LiveSite([run]), port=port)

"""The socket serves whoever asks properly, and survives everybody else."""

import json
import logging
import os
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from cuda_agent.environment import channel as module
from cuda_agent.environment.channel import Answer, Channel
from cuda_agent.environment.client import ask


class Handler:
    def __init__(self) -> None:
        self.asked: list[tuple[str, int]] = []
        self.running = 0
        self.most_running = 0

    def __call__(self, verb: str, peer: int) -> Answer:
        self.running += 1
        self.most_running = max(self.most_running, self.running)
        time.sleep(0.02)
        self.asked.append((verb, peer))
        self.running -= 1
        if verb == "verify":
            raise RuntimeError("the judge broke")
        return Answer(1, f"{verb} ✓\nnext line")


@pytest.fixture
def handler() -> Handler:
    return Handler()


@pytest.fixture
def served(tmp_path: Path, handler: Handler, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setattr(module, "REQUEST_S", 0.2)
    with Channel(tmp_path / "s", handler) as channel:
        yield channel.path


def send(path: Path, data: bytes) -> dict[str, object]:
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(str(path))
        connection.sendall(data)
        with connection.makefile("rb") as stream:
            answer: dict[str, object] = json.loads(stream.readline())
    return answer


def test_answers_with_text_and_status(served: Path, handler: Handler) -> None:
    assert ask(str(served), "build") == (1, "build ✓\nnext line")
    assert handler.asked == [("build", os.getpid())]


@pytest.mark.parametrize(
    "garbage",
    [
        b"\n",
        b"build\n",
        b"[]\n",
        b'{"verb": "format"}\n',
        b'{"verb": ["build"]}\n',
        b"\xff\xfe\n",
        b"x" * 5000,
        b'{"verb"',
        b"[" * 4000 + b"\n",
    ],
)
def test_garbage_gets_status_two_and_the_next_is_served(
    served: Path, handler: Handler, garbage: bytes
) -> None:
    assert send(served, garbage)["status"] == 2
    assert handler.asked == []
    assert ask(str(served), "build")[0] == 1


def test_silent_slow_and_vanishing_clients_do_not_stop_it(served: Path) -> None:
    silent = socket.socket(socket.AF_UNIX)
    silent.connect(str(served))
    vanishing = socket.socket(socket.AF_UNIX)
    vanishing.connect(str(served))
    vanishing.sendall(b'{"verb": "build"}\n')
    vanishing.close()
    started = time.monotonic()
    assert ask(str(served), "build")[0] == 1
    assert time.monotonic() - started < 3
    silent.close()


def test_a_failure_of_the_judge_is_an_answer(served: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.CRITICAL):
        status, text = ask(str(served), "verify")
    assert status == 2
    assert "the judge failed, not the submission" in text
    assert ask(str(served), "build")[0] == 1


def test_requests_are_served_one_at_a_time(served: Path, handler: Handler) -> None:
    threads = [threading.Thread(target=ask, args=(str(served), "build")) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(handler.asked) == 6
    assert handler.most_running == 1


def test_closing_is_prompt_and_removes_the_socket(tmp_path: Path, handler: Handler) -> None:
    started = time.monotonic()
    with Channel(tmp_path / "s", handler):
        pass
    assert time.monotonic() - started < 1
    assert not (tmp_path / "s").exists()


def test_after_stopping_a_failing_request_makes_no_noise(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    asked, stopped = threading.Event(), threading.Event()

    def fail_later(verb: str, peer: int) -> Answer:
        asked.set()
        stopped.wait(10)
        raise RuntimeError(f"{verb} lost its judge")

    with Channel(tmp_path / "s", fail_later) as channel:
        client = threading.Thread(target=ask, args=(str(channel.path), "build"))
        client.start()
        assert asked.wait(10)
        channel.stop()
        stopped.set()
        with pytest.raises(ConnectionError), socket.socket(socket.AF_UNIX) as late:
            late.connect(str(channel.path))
    client.join(10)
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []

"""A group ends once, by force if need be."""

import subprocess

import pytest

from cuda_agent.sandbox import group as module
from cuda_agent.sandbox.group import Group


def test_it_stops_and_settles_once() -> None:
    calls = []
    process = subprocess.Popen(["sleep", "60"])

    def stop() -> None:
        calls.append("stop")
        process.kill()

    group = Group(process, stop=stop, settle=lambda: calls.append("settle"))
    assert group.poll() is None
    group.kill()
    group.kill()
    assert calls == ["stop", "settle"]
    assert group.poll() == -9


def test_one_that_does_not_stop_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "STOP_S", 0.05)
    group = Group(subprocess.Popen(["sleep", "60"]), stop=lambda: None, settle=lambda: None)
    group.kill()
    assert group.poll() == -9


@pytest.mark.parametrize(("status", "told"), [(0, 0), (1, 1), (128, 128), (139, -11), (255, 255)])
def test_a_status_above_128_is_a_signal(status: int, told: int) -> None:
    with Group(
        subprocess.Popen(["sh", "-c", f"exit {status}"]), stop=lambda: None, settle=lambda: None
    ) as group:
        group.process.wait()
    assert group.poll() == told

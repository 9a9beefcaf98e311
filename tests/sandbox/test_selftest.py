"""The self-test finds promises held, and would find a broken one."""

from pathlib import Path

import pytest

from cuda_agent.sandbox.process import ProcessSandbox
from cuda_agent.sandbox.protocol import Command, Completed, Containment, Running, Sandbox
from cuda_agent.sandbox.selftest import ATTEMPTS, Promise, PromiseStatus, run_selftest


class _Boaster:
    """A process sandbox that claims to be bubblewrap."""

    containment = Containment.BUBBLEWRAP

    def run(self, command: Command, stdin: bytes = b"") -> Completed:
        return ProcessSandbox().run(command, stdin)

    def start(self, command: Command, log: Path) -> Running:
        return ProcessSandbox().start(command, log)


def find_broken(promises: tuple[Promise, ...]) -> dict[str, str]:
    return {p.name: p.detail for p in promises if p.status is PromiseStatus.NOT_HELD}


def test_bubblewrap_holds_everything(bubblewrap: Sandbox) -> None:
    promises = run_selftest(bubblewrap)
    assert [promise.name for promise in promises] == list(ATTEMPTS)
    assert {p.name: p.detail for p in promises if p.status is not PromiseStatus.HELD} == {}


def test_process_holds_what_it_promises() -> None:
    promises = run_selftest(ProcessSandbox())
    assert find_broken(promises) == {}
    network = next(promise for promise in promises if promise.name == "has no network")
    assert network.status is PromiseStatus.NOT_PROMISED


def test_a_false_promise_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    name = "has no network"
    monkeypatch.setattr("cuda_agent.sandbox.selftest.ATTEMPTS", {name: ATTEMPTS[name]})
    assert find_broken(run_selftest(_Boaster())) == {name: "connected"}


def test_a_command_that_cannot_run_is_no_success(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cuda_agent.sandbox.selftest.probe.__file__", "/no/such/probe.py")
    monkeypatch.setattr("cuda_agent.sandbox.selftest.WALL_S", 0.5)
    assert set(find_broken(run_selftest(_Boaster()))) == set(ATTEMPTS)

"""What is found is shown, and the exit status says whether the main job can run."""

import pytest

from cuda_agent.cli import doctor as module
from cuda_agent.cli.doctor import DoctorConfig, run_doctor
from cuda_agent.environment.doctor import Check, CheckStatus
from cuda_agent.sandbox.protocol import Containment
from cuda_agent.sandbox.selftest import Promise, PromiseStatus

GOOD = Check(name="Good", status=CheckStatus.OK, found="there [at/once]")
BAD = Check(name="Bad", status=CheckStatus.MISSING, found="nothing", mend="get it")


def show(checks: tuple[Check, ...], monkeypatch: pytest.MonkeyPatch, *, config: DoctorConfig) -> int:
    monkeypatch.setattr("cuda_agent.environment.doctor.run_doctor", lambda: checks)
    return run_doctor(config)


def test_a_good_machine(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert show((GOOD,), monkeypatch, config=DoctorConfig()) == 0
    printed = capsys.readouterr().out
    assert "there [at/once]" in printed
    assert "This machine can make tasks faster." in printed


def test_a_bad_machine(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert show((GOOD, BAD), monkeypatch, config=DoctorConfig()) == 1
    assert "get it" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("status", "code"),
    [(PromiseStatus.HELD, 0), (PromiseStatus.NOT_PROMISED, 0), (PromiseStatus.NOT_HELD, 1)],
)
def test_a_broken_promise_is_a_failure(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *, status: PromiseStatus, code: int
) -> None:
    promise = Promise(name="has no network", status=status, detail="seen [x]")
    monkeypatch.setattr(module, "run_selftest", lambda _sandbox: (promise,))
    config = DoctorConfig(sandbox=True, containment=Containment.PROCESS)
    assert show((GOOD,), monkeypatch, config=config) == code
    printed = capsys.readouterr().out
    assert "process sandbox" in printed
    assert "seen [x]" in printed

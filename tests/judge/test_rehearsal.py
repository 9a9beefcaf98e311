"""The rehearsal passes the gate: a task that failed there would leave most of it unrun."""

import pytest
import torch

from cuda_agent.judge import rehearsal, runner
from cuda_agent.judge.device import Device, open_device
from cuda_agent.judge.gatekeeper import Gatekeeper
from cuda_agent.judge.policy import Precision
from cuda_agent.judge.result import TaskResult
from cuda_agent.tasks.target import Target


@pytest.fixture(params=["cpu", pytest.param("cuda", marks=pytest.mark.gpu)])
def device(request: pytest.FixtureRequest) -> Device:
    return open_device(Target(request.param), precision=Precision.HIGHEST, threads=1)


def test_a_reference_goes_through_all_of_it(device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    found: list[TaskResult] = []

    def run(keeper: Gatekeeper) -> TaskResult:
        found.append(true_run(keeper))
        return found[-1]

    true_run = Gatekeeper.run
    monkeypatch.setattr(Gatekeeper, "run", run)
    rehearsal.rehearse(device)
    assert [result.reason for result in found] == [""]
    assert found[0].is_judged


def test_a_runner_leaves_nothing_switched_on(device: Device) -> None:
    runner.rehearse(device)
    assert not torch.are_deterministic_algorithms_enabled()

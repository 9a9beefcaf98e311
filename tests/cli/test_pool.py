"""Workers are planned for the devices that may be used, and never for one that is not there."""

import pytest
from pydantic import ValidationError

from cuda_agent.cli.pool import PoolOptions, plan_workers
from cuda_agent.errors import ConfigError
from cuda_agent.tasks.target import Target
from cuda_agent.workers.item import Tier


def test_each_gpu_has_as_many_judges_as_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "3,5")
    workers = plan_workers(Target.CUDA, PoolOptions(host_workers=4, per_device=2))
    assert {tier: len(makers) for tier, makers in workers.items()} == {Tier.HOST: 4, Tier.DEVICE: 4}
    assert len(plan_workers(Target.CPU)[Tier.DEVICE]) == 1


def test_cuda_without_a_gpu_is_told_and_not_judged_on_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    with pytest.raises(ConfigError, match="name those to be used in CUDA_VISIBLE_DEVICES"):
        plan_workers(Target.CUDA)


@pytest.mark.parametrize("options", [{"host_workers": 0}, {"per_device": 0}, {"host_workers": -1}])
def test_a_number_of_none_is_wrong_use(options: dict[str, int]) -> None:
    with pytest.raises(ValidationError, match="greater than 0"):
        PoolOptions.model_validate(options)

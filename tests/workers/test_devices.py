"""Which workers this machine gets."""

import pytest

from cuda_agent.workers import devices
from cuda_agent.workers.devices import list_gpus, plan_local_workers
from cuda_agent.workers.item import Tier


def test_one_worker_for_each_gpu_and_the_rest_builds() -> None:
    plan = plan_local_workers("m:C", devices=("0", "GPU-abc"), host_workers=3)
    assert [maker.keywords for maker in plan[Tier.DEVICE]] == [  # type: ignore[attr-defined]
        {"name": "gpu-0.0", "env": {"CUDA_VISIBLE_DEVICES": "0"}},
        {"name": "gpu-GPU-abc.0", "env": {"CUDA_VISIBLE_DEVICES": "GPU-abc"}},
    ]
    assert len(plan[Tier.HOST]) == 3
    assert all(maker.keywords["env"] == {"CUDA_VISIBLE_DEVICES": ""} for maker in plan[Tier.HOST])  # type: ignore[attr-defined]


def test_builders_leave_cores_to_judges(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(devices, "count_cores", lambda: 16)
    assert len(plan_local_workers("m:C", devices=("0",), per_device=3)[Tier.HOST]) == 7
    assert len(plan_local_workers("m:C", devices=("0", "1"), per_device=4)[Tier.HOST]) == 1
    assert len(plan_local_workers("m:C", devices=())[Tier.HOST]) == 15


def test_without_gpus_one_worker_has_the_cpu() -> None:
    plan = plan_local_workers("m:C", devices=())
    assert [maker.keywords["name"] for maker in plan[Tier.DEVICE]] == ["cpu"]  # type: ignore[attr-defined]
    assert plan[Tier.HOST]


def test_gpus_are_those_that_we_may_see(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "2,5")
    assert list_gpus() == ("2", "5")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    assert list_gpus() == ()

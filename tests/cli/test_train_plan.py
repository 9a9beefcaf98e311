"""The printed plan: every figure, every assumption, and what to do when it does not fit."""

from pathlib import Path

import pytest

from cuda_agent.cli.train_plan import plan_training
from cuda_agent.rl.plan import ASSUMPTIONS, compute_time
from cuda_agent.rl.scale import PRESETS, list_presets, load_scale


@pytest.mark.parametrize("name", list_presets())
def test_plan_tells_figures_and_assumptions(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert plan_training(name) == 0
    told = " ".join(capsys.readouterr().out.split())
    time = compute_time(load_scale(name))
    assert f"{time.step_s:,.0f}" in told
    assert f"a step waits for {time.limit}" in told
    for assumption in ASSUMPTIONS:
        assert assumption in told


@pytest.mark.parametrize(
    ("old", "new", "mend"),
    [
        ("gpu_memory_gb = 80.0", "gpu_memory_gb = 24.0", "layout.offload = true"),
        ("generation_share = 0.5", "generation_share = 0.04", "raise layout.tensor_parallel"),
    ],
)
def test_misfit_is_told_with_its_mend(
    old: str, new: str, mend: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "run.toml"
    path.write_text((PRESETS / "two_gpus.toml").read_text().replace(old, new))
    assert plan_training(str(path)) == 1
    assert mend in " ".join(capsys.readouterr().out.split())

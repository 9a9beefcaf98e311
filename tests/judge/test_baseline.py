"""What is kept of the baselines, and what follows from it."""

from pathlib import Path

import pytest

from cuda_agent.judge.baseline import Baseline, BaselineStore, KeptBaseline
from cuda_agent.judge.policy import JudgePolicy
from cuda_agent.judge.result import Ratio, Timing
from cuda_agent.tasks.target import Target
from cuda_agent.tasks.task import Task

TIMING = Timing(median_ms=4.0, calls_ms=(4.0,))
BASELINE = Baseline(
    eager=TIMING,
    compiled=Timing(median_ms=2.0, calls_ms=(2.0,)),
    compiled_speedup=Ratio(point=2.0, low=1.6, high=2.5),
    compile_error="",
    measured="2026-11-30T12:00:00+00:00",
)
UNCOMPILED = BASELINE.model_copy(
    update={"compiled": None, "compiled_speedup": None, "compile_error": "graph"}
)


def test_a_speed_up_over_torch_compile_follows_at_the_less_certain_ends() -> None:
    derived = BASELINE.derive(Ratio(point=4.0, low=3.0, high=5.0))
    assert derived == Ratio(point=2.0, low=3.0 / 2.5, high=5.0 / 1.6)
    assert UNCOMPILED.derive(Ratio(point=4.0, low=3.0, high=5.0)) is None


@pytest.mark.parametrize(("eager_ms", "has_drifted"), [(4.0, False), (5.1, False), (5.3, True), (3.0, True)])
def test_drift_is_told_in_both_directions(eager_ms: float, has_drifted: bool) -> None:
    assert BASELINE.has_drifted(eager_ms) is has_drifted


@pytest.mark.parametrize(("high", "is_useful"), [(2.0, True), (2.1, False)])
def test_a_blunt_ratio_is_of_no_use(high: float, is_useful: bool) -> None:
    blunt = BASELINE.model_copy(update={"compiled_speedup": Ratio(point=1.8, low=1.6, high=high)})
    assert blunt.is_useful is is_useful
    assert UNCOMPILED.is_useful


def test_a_store_keeps_finds_and_forgets(tmp_path: Path) -> None:
    store = BaselineStore(tmp_path / "new")
    assert store.find("a") is None
    store.keep("a", BASELINE)
    assert BaselineStore(tmp_path / "new").find("a") == BASELINE
    assert store.find("b") is None
    store.forget("a")
    store.forget("a")
    assert store.find("a") is None
    assert not list((tmp_path / "new").iterdir())


def test_a_file_that_makes_no_sense_counts_as_none(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"eager": 4')
    assert BaselineStore(tmp_path).find("a") is None


def test_a_folder_that_cannot_be_written_costs_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    store = BaselineStore(tmp_path / "file")
    store.keep("a", BASELINE)
    assert store.find("a") is None


def test_what_is_kept_holds_for_one_task_target_and_precision(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tiny_task: Task
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    folder = tmp_path / "cuda-agent" / "baselines"
    folder.mkdir(parents=True)
    KeptBaseline(tiny_task, Target.CPU, policy=JudgePolicy()).forget()
    kept = KeptBaseline(tiny_task, Target.CPU, policy=JudgePolicy())
    kept._store.keep(kept._key, BASELINE)
    other = tiny_task.model_copy(update={"source": tiny_task.source + "\n# other"})
    assert KeptBaseline(tiny_task, Target.CPU, policy=JudgePolicy()).find() == BASELINE
    assert KeptBaseline(other, Target.CPU, policy=JudgePolicy()).find() is None
    assert KeptBaseline(tiny_task, Target.CPU, policy=JudgePolicy(keeps_baselines=False)).find() is None
    tf32 = JudgePolicy.model_validate({"precision": "tf32"})
    assert KeptBaseline(tiny_task, Target.CPU, policy=tf32).find() is None

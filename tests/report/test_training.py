"""Curves over steps, one line a run."""

from pathlib import Path

from cuda_agent.report.load import load_material
from cuda_agent.report.material import Material
from cuda_agent.report.training import build_training_page
from tests.report.conftest import write_training


def test_known_figures_have_their_curve(training_log: Path) -> None:
    page = build_training_page(load_material([training_log]))
    known = {"reward", "entropy", "kl", "clipped", "ratio_max", "ratio_min", "explained", "length", "turns"}
    assert known | {"mismatch", "seconds", "other0"} == page.charts.keys()
    assert page.charts["reward"].series[0].ys[-1] == 1.9
    assert len(page.charts["explained"].series[0].xs) == 999
    assert [line.name for line in page.charts["seconds"].series] == ["gen", "update_actor"]
    assert page.charts["other0"].title == "perf/mfu"


def test_stages_are_marked_where_they_begin(training_log: Path) -> None:
    page = build_training_page(load_material([training_log]))
    assert [(mark.value, mark.label) for mark in page.charts["kl"].marks] == [(501, "ppo")]
    assert page.data["runs"][0]["stages"] == ["rft", "ppo"]


def test_ablations_lie_over_each_other(training_log: Path, tmp_path: Path) -> None:
    other = write_training(tmp_path / "no_rft", steps=16)
    page = build_training_page(load_material([training_log, other / "metrics.jsonl"]))
    assert [len(line.xs) for line in page.charts["reward"].series] == [1000, 16]
    assert len({line.name for line in page.charts["seconds"].series}) == 4


def test_no_training_is_a_sentence() -> None:
    page = build_training_page(Material())
    assert page.is_empty
    assert page.missing == ("No training run was found, so there are no curves; none has been recorded yet.",)

"""Curves over steps, one line a run."""

from pathlib import Path

from cuda_agent.report.load import load_material
from cuda_agent.report.material import EpisodeFound, Material
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


def test_samples_run_from_the_first_to_the_last(training_log: Path, run_found: EpisodeFound) -> None:
    trainings = load_material([training_log]).trainings
    episodes = tuple(
        EpisodeFound(run=trainings[0].run, trajectory=run_found.trajectory, step=step) for step in range(23)
    )
    samples = build_training_page(Material(trainings=trainings, episodes=episodes)).data["samples"]
    assert [each["step"] for each in samples] == [0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22]
    assert len({each["href"] for each in samples}) == 12
    only = build_training_page(Material(trainings=trainings, episodes=episodes[:1])).data["samples"]
    assert [each["step"] for each in only] == [0]


def test_no_training_is_a_sentence() -> None:
    page = build_training_page(Material())
    assert page.is_empty
    assert page.missing == (
        "No training run was found, so there are no curves: `cuda-agent train` leaves them.",
    )

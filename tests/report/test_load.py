"""What lies in folders and files is recognised by its form."""

from pathlib import Path

import pytest

from cuda_agent.bench.load import write_records
from cuda_agent.config import Config
from cuda_agent.errors import UserError
from cuda_agent.report.load import load_material
from cuda_agent.report.material import EpisodeFound, Material
from cuda_agent.rl.training import SampleRecord, StepRecord
from cuda_agent.rundir import RunDir
from tests.report.conftest import FATES, RESULTS, RUN, build_tries


def test_recorded_results_are_all_found(recorded: Material) -> None:
    assert [run.name for run in recorded.runs] == ["2026-11-30-epyc2-run"]
    assert {len(each.trajectory.turns) for each in recorded.episodes} == {3}
    assert len({each.run for each in recorded.evaluations}) >= 8
    assert len(recorded.syntheses[0].fates) == 35
    assert {case.target.value for case in recorded.cases} == {"cpu", "cuda"}


def test_newest_verdict_on_a_case_counts(recorded: Material) -> None:
    keys = [(case.corpus, case.name, case.target, case.without) for case in recorded.cases]
    assert len(keys) == len(set(keys))


def test_what_no_page_shows_is_named(recorded: Material) -> None:
    assert any("variants.json" in each for each in recorded.left_out)


def test_files_of_the_submission_that_counts() -> None:
    found = load_material([RUN]).episodes[0]
    assert {"model_new.py", "kernels/fused.cpp"} <= found.files.keys()
    assert "ModelNew" in found.files["model_new.py"]


def test_single_files() -> None:
    assert len(load_material([FATES]).syntheses[0].fates) == 35
    assert load_material([RESULTS / "2026-11-30-h200-judge-cuda.jsonl"]).cases
    assert load_material([RUN / "trajectories.jsonl"]).episodes


def test_records_of_a_benchmark(tmp_path: Path) -> None:
    write_records(tmp_path / "records.jsonl", build_tries(3))
    assert len(load_material([tmp_path / "records.jsonl"]).benches[0].records) == 3


def test_training_in_a_run_and_by_itself(training_log: Path, tmp_path: Path) -> None:
    by_itself = load_material([training_log / "metrics.jsonl"]).trainings[0]
    with RunDir.create(tmp_path / "run", Config()):
        (training_log / "metrics.jsonl").rename(tmp_path / "run" / "metrics.jsonl")
    in_a_run = load_material([tmp_path / "run"]).trainings[0]
    assert (in_a_run.run, len(in_a_run.steps)) == ("run", 1000)
    assert in_a_run.steps == by_itself.steps


def test_samples_of_training_are_its_episodes(run_found: EpisodeFound, tmp_path: Path) -> None:
    with RunDir.create(tmp_path / "run", Config()) as run:
        for step in (0, 10):
            run.append("metrics.jsonl", StepRecord(step=step, seconds=1.0, metrics={"actor/entropy": 0.1}))
            run.append("samples.jsonl", SampleRecord(step=step, trajectory=run_found.trajectory))
    for path in (tmp_path / "run", tmp_path):
        found = load_material([path])
        assert [(each.run, each.step) for each in found.episodes] == [("run", 0), ("run", 10)]
        assert [each.run for each in found.trainings] == ["run"]
    alone = load_material([tmp_path / "run" / "samples.jsonl"])
    assert [each.step for each in alone.episodes] == [0, 10]
    assert not alone.trainings


def test_a_run_that_has_only_begun(tmp_path: Path) -> None:
    with RunDir.create(tmp_path / "run", Config()):
        (tmp_path / "run" / "live").mkdir()
        (tmp_path / "run" / "live" / "t-0.jsonl").write_text("")
    found = load_material([tmp_path / "run"])
    assert [(each.name, each.turns) for each in found.under_way] == [("t-0", ())]


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("missing", None, "does not exist"),
        ("odd.jsonl", '{"a": 1}\n', "no form that a page shows"),
        ("odd.json", "[1]", "no form that a page shows"),
        ("broken.json", "{", "no form that a page shows"),
        ("metrics.jsonl", '{"step": 1, "a": 2}\n{"b"\n', "line 2: not a step"),
        ("cases.jsonl", '{"corpus": 1, "verdict": 2, "is_right": 3}\n', "line 1"),
    ],
)
def test_what_was_named_must_be_readable(tmp_path: Path, name: str, *, text: str | None, said: str) -> None:
    if text is not None:
        (tmp_path / name).write_text(text)
    with pytest.raises(UserError, match=said):
        load_material([tmp_path / name])


def test_a_link_in_a_submission_is_not_followed(tmp_path: Path) -> None:
    import shutil

    shutil.copytree(RUN, tmp_path / "run")
    (tmp_path / "secret").write_text("key")
    for path in (tmp_path / "run").glob("submissions/*/model_new.py"):
        path.unlink()
        path.symlink_to(tmp_path / "secret")
    assert all("model_new.py" not in each.files for each in load_material([tmp_path / "run"]).episodes)

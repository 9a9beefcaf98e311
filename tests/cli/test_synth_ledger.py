"""Data set and card are there while a run still goes on."""

from pathlib import Path

from cuda_agent.cli.synth_ledger import Ledger
from cuda_agent.rundir import RunDir
from cuda_agent.synthesis.card import add_shares, list_shares
from cuda_agent.synthesis.crawl import Crawl
from cuda_agent.synthesis.fate import Fate, Filter
from cuda_agent.synthesis.pipeline import FATES
from cuda_agent.synthesis.recipe import Recipe
from cuda_agent.tasks.dataset import read_dataset
from tests.synthesis.conftest import make_candidate


def test_it_begins_with_what_is_recorded_and_writes_in_order(tmp_path: Path) -> None:
    fates = [Fate(candidate=make_candidate(number=number)) for number in (2, 0, 1)]
    shown: list[Fate] = []
    found = Crawl(operators=(), left_out={})
    with RunDir.create(tmp_path / "run", Recipe()) as run:
        run.append(FATES, fates[0])
        ledger = Ledger(run, recipe=Recipe(), found=found, every_s=0.0)
        observe = ledger.observe(shown.append)
        observe(fates[1])
        assert [row.number for row in read_dataset(run.path / "tasks.parquet")] == [0, 2]
        assert (run.path / "README.md").read_text().startswith("# 2 tasks")
        observe(fates[2].model_copy(update={"dropped_by": Filter.GATE}))
        assert [fate.candidate.number for fate in ledger.fates] == [0, 1, 2]
        assert (run.path / "README.md").read_text().startswith("# 2 tasks")
    assert [fate.candidate.number for fate in shown] == [0, 1]
    assert sorted(path.name for path in (tmp_path / "run").iterdir() if "parquet" in path.name) == [
        "tasks.parquet"
    ]


def test_between_times_nothing_is_written(tmp_path: Path) -> None:
    with RunDir.create(tmp_path / "run", Recipe()) as run:
        ledger = Ledger(run, recipe=Recipe(), found=Crawl(operators=(), left_out={}), every_s=3600.0)
        ledger.observe(lambda _: None)(Fate(candidate=make_candidate()))
        assert not (run.path / "tasks.parquet").exists()
        ledger.write(ledger.fates)
        assert len(read_dataset(run.path / "tasks.parquet")) == 1
        card = run.path / "README.md"
        card.write_text(add_shares(card.read_text(), ["| expert |"]))
        ledger.write(ledger.fates)
        assert list_shares(card.read_text()) == ["| expert |"]

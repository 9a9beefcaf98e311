"""What the verb synth prints."""

from pathlib import Path

import pytest

from cuda_agent.cli.synth_report import audit_dataset, show_crawl, show_fate, show_rate
from cuda_agent.synthesis.crawl import Crawl
from cuda_agent.synthesis.fate import Fate, Filter, Measured
from cuda_agent.synthesis.operator import Layout, Operator
from cuda_agent.synthesis.recipe import Recipe
from cuda_agent.tasks.dataset import Row, write_dataset
from tests.synthesis.conftest import GOOD, make_candidate


def test_a_crawl_is_counted(capsys: pytest.CaptureFixture[str]) -> None:
    operator = Operator(name="torch.sin", layout=Layout.ANY, template="torch.sin({x})")
    left_out = {"torch.a": "random", "torch.b": "random", "torch.c": "needs an argument maker: y"}
    show_crawl(Crawl(operators=(operator,), left_out=left_out))
    out = capsys.readouterr().out
    assert "operators: 4 found, 1 used (1 of torch), 3 left out" in out
    assert "   2 random" in out
    assert "   1 needs an argument maker\n" in out


def test_a_fate_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    kept = Fate(candidate=make_candidate(), measured=Measured(eager_ms=4.25, compile_ms=2.0), seconds=1.5)
    show_fate(kept)
    show_fate(kept.model_copy(update={"dropped_by": Filter.GATE, "reason": "an output is zero"}))
    assert capsys.readouterr().out == (
        "[0] Linear + tanh: kept: eager 4.25 ms, compile 2 ms (1.5 s)\n"
        "[0] Linear + tanh: gate: an output is zero (1.5 s)\n"
    )


def test_what_others_wrote_moves_no_cursor(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    forged = "\x1b[2J\rtasks\n0 at fault"
    fate = Fate(candidate=make_candidate(ops=(forged,)), dropped_by=Filter.EAGER, reason=forged)
    show_fate(fate)
    row = Row(ops=("torch.nn.Conv2d",), data_source="torch#1", code=GOOD, id=forged)
    write_dataset(tmp_path / "t.parquet", [row])
    audit_dataset(tmp_path / "t.parquet", recipe=Recipe(), kernelbench={}, sandbox=None)
    out = capsys.readouterr().out
    assert "\x1b[2J" not in out
    assert "\r" not in out
    assert "\n0 at fault" not in out
    assert r"  \x1b[2J\rtasks\n0 at fault: label: torch.nn.Conv2d does not occur" in out


def test_a_run_that_was_stopped_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    fates = [Fate(candidate=make_candidate())]
    show_rate(fates, count=1, seconds=3.2)
    show_rate(fates, count=5, seconds=3.2)
    once = "1 kept of 1 candidates; this sitting took 3 s"
    told = f"{once}\n{once}; stopped by --minutes, 5 were wished: --resume goes on\n"
    assert capsys.readouterr().out == told

"""The page about the judge says what the raw verdicts say."""

from pathlib import Path

from cuda_agent.judge.policy import Layer
from cuda_agent.judge.result import ProfileStatus
from cuda_agent.report.judged import CaseResult, Race
from cuda_agent.tasks.target import Target
from scripts.judge_page import load_rows, render_page
from scripts.self_comparison import summarise_races


def make_row(name: str, verdict: str, *, corpus: str = "hacks", is_right: bool = True) -> CaseResult:
    return CaseResult(
        corpus=corpus,
        name=name,
        kind="replay" if corpus == "hacks" else "honest-form",
        mechanism="a | b",
        source="own",
        target=Target.CPU,
        expect=(verdict,),
        verdict=verdict,
        reward=1.0 if verdict == "ok" else -1.0,
        is_right=is_right,
        reason="a reason",
        seconds=1.0,
    )


def make_race(low: float, *, ratio: float = 1.0, elements: int = 8) -> Race:
    return Race(
        target=Target.CPU, elements=elements, status=ProfileStatus.OK, eager_ms=2.0, ratio=ratio, low=low
    )


def test_page_counts_by_class_and_lists_what_went_wrong() -> None:
    rows = [
        make_row("caught", "verify:mismatch"),
        make_row("missed", "ok", is_right=False),
        make_row("elsewise", "verify:crashed", is_right=False),
        make_row("passed", "ok", corpus="honest"),
        make_row("refused", "rules:violation", corpus="honest", is_right=False),
    ]
    page = render_page(rows, [])
    assert "**3 cheats: 2 caught, 1 missed.**" in page
    assert "**2 honest kernels: 1 passed, 1 rejected.**" in page
    assert "| replay | 2 | 1 |" in page
    assert "| `verify:mismatch` | 1 |" in page
    assert "| `missed` | a \\| b | `ok`, reward 1 | a reason |" in page
    assert page.index("Missed:") < page.index("Caught by another check") < page.index("| `elsewise` | a")
    assert "| `refused` | a \\| b | `rules:violation` | a reason |" in page


def test_page_names_what_only_one_layer_catches() -> None:
    whole = [make_row("replayed", "verify:mismatch"), make_row("other", "verify:mismatch")]
    fewer = [
        make_row("replayed", "ok", is_right=False).model_copy(update={"without": (Layer.REPLAY,)}),
        make_row("other", "verify:mismatch").model_copy(update={"without": (Layer.REPLAY,)}),
    ]
    assert "| cpu | replay | 1: `replayed` | none |" in render_page([*whole, *fewer], [])


def test_the_newest_file_of_a_target_counts(tmp_path: Path) -> None:
    (tmp_path / "2026-01-01-box-judge-cpu.jsonl").write_text(make_row("old", "ok").model_dump_json() + "\n")
    (tmp_path / "2026-01-02-box-judge-cpu.jsonl").write_text(make_row("new", "ok").model_dump_json() + "\n")
    assert [row.name for row in load_rows(tmp_path)] == ["new"]


def test_races_are_won_at_the_lower_bound_and_above_the_margin() -> None:
    races = [
        make_race(1.04),  # 3.8 % faster at least: no win
        make_race(1.06, ratio=1.1),
        make_race(0.99, ratio=1.06),
        make_race(1.0, elements=16),
    ]
    by_size = {summary.elements: summary for summary in summarise_races(races)}
    assert (by_size[8].races, by_size[8].won, by_size[8].won_at_point) == (3, 1, 2)
    assert (by_size[None].races, by_size[None].won) == (4, 1)


def test_a_race_that_was_not_timed_is_counted_as_such() -> None:
    lost = Race(target=Target.CPU, elements=8, status=ProfileStatus.CLOCK_DISPUTED, low=2.0, ratio=2.0)
    [summary, _] = summarise_races([lost])
    assert (summary.won, summary.not_timed) == (0, 1)

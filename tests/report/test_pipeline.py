"""The funnel adds up."""

from cuda_agent.report.material import Material
from cuda_agent.report.pipeline import build_funnel, build_pipeline_page


def test_funnel_of_the_recorded_run(recorded: Material) -> None:
    page = build_pipeline_page(recorded)
    funnel = page.data["funnel"]
    assert (page.data["candidates"], page.data["kept"]) == (35, 30)
    assert {row["filter"]: row["dropped"] for row in funnel if row["dropped"]} == {
        "gate": 1,
        "redundant": 1,
        "window": 3,
    }
    assert all(row["reached"] - row["dropped"] == row["left"] for row in funnel)
    assert funnel[-1]["left"] == 30
    assert all(row["asks"].endswith("?") for row in funnel)
    window = next(row for row in funnel if row["filter"] == "window")
    assert all("not 1 to 100 ms" in each["reason"] for each in window["reasons"])


def test_charts_count_everything(recorded: Material) -> None:
    charts = build_pipeline_page(recorded).charts
    assert sum(value or 0 for value in charts["sources"].series[0].ys) == 30
    assert sum(value or 0 for value in charts["similar"].series[0].ys) == 35


def test_examples_kept_and_dropped_with_their_source(recorded: Material) -> None:
    examples = build_pipeline_page(recorded).data["examples"]
    assert {each["dropped_by"] for each in examples} == {"", "gate", "redundant", "window"}
    assert all("class Model" in each["code"] for each in examples)


def test_nothing_made() -> None:
    page = build_pipeline_page(Material())
    assert page.is_empty
    assert not page.charts
    assert build_funnel([])[-1]["left"] == 0

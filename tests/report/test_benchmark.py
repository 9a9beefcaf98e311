"""Rows by level, the published ones, and a table that leads to episodes."""

import pytest

from cuda_agent.report.benchmark import build_benchmark_page, find_benches
from cuda_agent.report.episodes import build_agent_pages
from cuda_agent.report.material import BenchFound, Material
from tests.report.conftest import build_tries


def test_recorded_rows_and_the_paper(recorded: Material) -> None:
    page = build_benchmark_page(recorded)
    row = next(each for each in page.data["rows"] if each["run"] == "2026-11-29-h200-examples-fp32")
    assert row["passed"]["value"] == 5 / 6
    assert row["faster_compile"]["value"] == 2 / 6
    claimed = {(each["policy"], each["level"]): each for each in page.data["claimed"]["rows"]}
    assert claimed["CUDA Agent", 0]["faster_compile_percent"] == 96.8
    assert "announced" in page.data["claimed"]["note"]


def test_tries_lead_to_their_episodes(recorded: Material) -> None:
    table = build_benchmark_page(recorded).tables["tries"]
    names = {f"{page.name}.html#kernel" for page in build_agent_pages(recorded)[1:]}
    column = [each["key"] for each in table["columns"]].index("href")
    assert {row[column] for row in table["rows"]} == names | {None}
    assert all(len(row) == len(table["columns"]) for row in table["rows"])


def test_a_column_without_a_value_is_left_out(recorded: Material) -> None:
    keys = [each["key"] for each in build_benchmark_page(recorded).tables["tries"]["columns"]]
    assert "level" not in keys
    own = build_benchmark_page(Material(benches=(BenchFound(run="r", records=build_tries(5)),)))
    keys = [each["key"] for each in own.tables["tries"]["columns"]]
    assert ("level" in keys, "href" in keys, "reason" in keys) == (True, False, False)


def test_levels_have_rows_of_their_own() -> None:
    page = build_benchmark_page(Material(benches=(BenchFound(run="r", records=build_tries(5)),)))
    assert [row["level"] for row in page.data["rows"]] == [0, 1]
    assert not page.missing


def test_tries_of_one_task_are_numbered(recorded: Material) -> None:
    again = find_benches(recorded)["2026-11-30-h200-again"]
    keys = [(each.task_id, each.number) for each in again]
    assert len(keys) == len(set(keys)) > len({task for task, _ in keys})


def test_curve_begins_at_the_pass_rate(recorded: Material) -> None:
    chart = build_benchmark_page(recorded).charts["fast_p"]
    line = next(each for each in chart.series if each.name.startswith("2026-11-29-h200-examples-fp32"))
    assert line.ys[0] == pytest.approx(100 * 5 / 6)


def test_nothing_judged() -> None:
    page = build_benchmark_page(Material())
    assert page.is_empty
    assert page.data["claimed"]["rows"]

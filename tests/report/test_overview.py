"""The first page's numbers are those of the records."""

from cuda_agent.report.material import Material
from cuda_agent.report.overview import build_overview
from cuda_agent.report.page import Page


def test_headlines_and_rows(recorded: Material) -> None:
    menu = Page(name="x", template="x", title="X", lead="l", data={}, is_empty=True)
    page = build_overview(recorded, [menu])
    values = {each["label"]: each["value"] for each in page.data["headlines"]}
    assert (values["episodes"], values["tasks made"]) == ("2", "30")
    row = next(each for each in page.data["runs"] if each["name"] == "2026-11-29-h200-examples-fp32")
    assert row["tasks"] == row["passed"]["n"] == 6
    assert row["passed"]["value"] == 5 / 6
    assert row["passed"]["low"] < 5 / 6 < row["passed"]["high"]
    assert row["devices"] == ["NVIDIA H200, 132 multiprocessors"]
    assert page.data["links"] == [{"href": "x.html", "title": "X", "lead": "l", "is_empty": True}]


def test_nothing_is_said_to_be_nothing() -> None:
    page = build_overview(Material(), [])
    assert page.data["headlines"] == page.data["runs"] == []
    assert page.missing

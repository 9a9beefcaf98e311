"""The pages in a real browser, from the disk: nothing asks the network, and what moves moves rightly."""

import json
import math
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from cuda_agent.environment.reward import compute_milestone
from cuda_agent.report.build import build_site
from cuda_agent.report.load import load_material
from cuda_agent.report.material import BenchFound, Material
from tests.browser import open_browser
from tests.report.conftest import build_tries, write_training

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, Request

pytestmark = pytest.mark.browser

PHONE, DESK = 390, 1440
MINUS, NONE = "\N{MINUS SIGN}", "\N{EN DASH}"


@pytest.fixture(scope="module")
def browser() -> "Iterator[Browser]":
    with open_browser() as opened:
        yield opened


@pytest.fixture(scope="module")
def site(recorded: Material, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The recorded results, and a training run."""
    folder = tmp_path_factory.mktemp("site")
    training = load_material([write_training(folder / "training", steps=40)]).trainings
    build_site(recorded.model_copy(update={"trainings": training}), folder / "pages")
    return folder / "pages"


class Visit:
    """A page that keeps a list of everything that went wrong, or left the disk."""

    def __init__(self, browser: "Browser", *, width: int = DESK, scheme: str = "light") -> None:
        context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)  # type: ignore[arg-type]
        self.page: Page = context.new_page()
        self.troubles: list[str] = []
        self.page.on("console", lambda message: self.troubles.append(f"console: {message.text}"))
        self.page.on("pageerror", lambda error: self.troubles.append(f"error: {error}"))
        self.page.on("request", self._look)

    def _look(self, request: "Request") -> None:
        if not request.url.startswith("file://"):
            self.troubles.append(f"asked {request.url}")

    def open(self, path: Path) -> "Page":
        self.page.goto(path.as_uri())
        return self.page

    def draw_all(self) -> None:
        """Each chart is drawn when it comes near the window."""
        for figure in self.page.locator("figure[data-chart]").all():
            figure.scroll_into_view_if_needed()
            figure.locator(".plot svg").wait_for()

    def close(self) -> None:
        self.page.context.close()


@pytest.mark.parametrize(("width", "scheme"), [(DESK, "light"), (PHONE, "dark")])
def test_every_page_opens_without_trouble(browser: "Browser", site: Path, *, width: int, scheme: str) -> None:
    visit = Visit(browser, width=width, scheme=scheme)
    for path in sorted(site.glob("*.html")):
        page = visit.open(path)
        visit.draw_all()
        assert page.evaluate("document.documentElement.scrollWidth") <= width, path.name
    assert visit.troubles == []
    visit.close()


def test_hostile_text_does_nothing(browser: "Browser", hostile: Material, tmp_path: Path) -> None:
    build_site(hostile, tmp_path)
    visit = Visit(browser, width=PHONE)
    for path in sorted(tmp_path.glob("*.html")):
        page = visit.open(path)
        visit.draw_all()
        for details in page.locator("figure details").all():
            details.locator("summary").click()
        assert page.evaluate("window.hacked") is None
        assert page.evaluate("document.querySelectorAll('img, iframe, object').length") == 0
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE, path.name
    assert visit.troubles == []
    visit.close()


def test_reward_is_that_of_the_judge(browser: "Browser", site: Path) -> None:
    visit = Visit(browser)
    page = visit.open(site / "reward.html")
    for ratios in [(e, c) for e in (0.5, 1.0, 1.05, 1.06, 3.0) for c in (0.5, 1.0, 1.05, 1.06, 3.0)]:
        for name, value in (("candidate", 1.0), ("eager", ratios[0]), ("compiled", ratios[1])):
            move(page, name, value=math.log10(value))
        eager, compiled = (round(math.log10(value) / 0.005) * 0.005 for value in ratios)
        expected = compute_milestone(10**eager, 10**compiled)
        assert read_number(page) == expected, ratios
    page.locator("[data-slider=right]").uncheck()
    assert read_number(page) == -1
    assert page.locator("[data-raw]").inner_text() == f"{MINUS}1"
    assert visit.troubles == []
    visit.close()


def test_noise_moves_the_raw_speedup_and_not_a_clear_milestone(browser: "Browser", site: Path) -> None:
    visit = Visit(browser)
    page = visit.open(site / "reward.html")
    move(page, "noise", value=5)
    assert page.locator("[data-shares] tr").last.inner_text().split() == ["3", "100.0", "%"]
    narrow = page.locator("[data-spread]").inner_text()
    move(page, "noise", value=0)
    assert page.locator("[data-spread]").inner_text() != narrow
    assert "between 1.58 and 1.58" in page.locator("[data-spread]").inner_text()
    visit.close()


def move(page: "Page", name: str, *, value: float) -> None:
    page.locator(f"[data-slider={name}]").evaluate(
        "(slider, value) => { slider.value = value; slider.dispatchEvent(new Event('input')); }", value
    )


def read_number(page: "Page") -> int:
    return int(page.locator("[data-number]").inner_text().replace(MINUS, "-"))


def test_replay_steps_by_button_and_key(browser: "Browser", site: Path) -> None:
    from playwright.sync_api import expect

    visit = Visit(browser)
    page = visit.open(next(site.glob("episode-rotary*.html")))
    shown = page.locator(".turn:visible")
    assert shown.count() == 3
    page.locator("[data-do=first]").click()
    assert (shown.count(), page.locator("[data-told]").inner_text()) == (1, "turn 1 of 3")
    page.keyboard.press("ArrowRight")
    assert shown.count() == 2
    assert "last reward 3" in page.locator("[data-told]").inner_text()
    page.keyboard.press("ArrowLeft")
    page.locator("[data-do=play]").click()
    expect(shown).to_have_count(3, timeout=20_000)
    assert page.locator("#kernel ~ details .kt").count() > 0
    assert visit.troubles == []
    visit.close()


def test_table_sorts_and_filters(browser: "Browser", site: Path) -> None:
    from playwright.sync_api import expect

    visit = Visit(browser)
    page = visit.open(site / "benchmark.html")
    table = page.locator("[data-table=tries]")
    table.locator("th[data-key=over_eager] button").click()
    column = 1 + [each["key"] for each in read_twin(site, "benchmark")["columns"]].index("over_eager")
    cells = [text for text in table.locator(f"td:nth-child({column})").all_inner_texts() if text != NONE]
    ratios = [float(text.rstrip("x")) for text in cells]
    assert ratios == sorted(ratios, reverse=True)
    assert ratios[0] == pytest.approx(
        max(row[column - 1] or 0 for row in read_twin(site, "benchmark")["rows"]), abs=0.01
    )
    table.locator("th[data-key=over_eager] button").click()
    assert table.locator("th[data-key=over_eager]").get_attribute("aria-sort") == "ascending"
    table.locator("input[type=search]").fill("rotary h200")
    expect(table.locator("output")).to_contain_text("(of")
    assert {"rotary" in text for text in table.locator("td:nth-child(1)").all_inner_texts()} == {True}
    table.locator("select[data-pick=status]").select_option("quarantined")
    assert table.locator("output").inner_text().startswith("none of")
    table.locator("input[type=search]").fill("")
    expect(table.locator("output")).not_to_contain_text("none")
    status = 1 + [each["key"] for each in read_twin(site, "benchmark")["columns"]].index("status")
    assert set(table.locator(f"td:nth-child({status})").all_inner_texts()) == {"quarantined"}
    assert visit.troubles == []
    visit.close()


def read_twin(site: Path, name: str) -> dict[str, Any]:
    tables = json.loads((site / f"{name}.json").read_text())["tables"]
    return dict(next(iter(tables.values())))


def test_links_lead_from_a_try_to_its_kernel(browser: "Browser", site: Path) -> None:
    visit = Visit(browser)
    page = visit.open(site / "benchmark.html")
    page.locator("[data-table] a").first.click()
    page.wait_for_url("**/*#kernel")
    assert "ModelNew" in page.locator("#kernel ~ details").first.inner_text()
    visit.close()


def test_charts_tell_values_by_pointer_and_key_and_table(browser: "Browser", site: Path) -> None:
    visit = Visit(browser)
    page = visit.open(site / "training.html")
    plot = page.locator("figure[data-chart=reward] .plot")
    plot.locator("svg").wait_for()
    box = plot.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] - 14, box["y"] + 40)
    assert plot.locator(".tip").inner_text().split("\n") == ["step 40", "training/metrics: 1.9"]
    plot.focus()
    page.keyboard.press("ArrowRight")
    assert plot.locator(".tip").inner_text().startswith("step 1\n")
    figure = page.locator("figure[data-chart=reward]")
    figure.locator("summary").click()
    from playwright.sync_api import expect

    expect(figure.locator("tbody tr")).to_have_count(40)
    assert figure.locator("tbody tr").last.inner_text().split() == ["40", "1.9"]
    visit.close()


def test_a_printed_page_has_every_chart(browser: "Browser", site: Path) -> None:
    visit = Visit(browser)
    page = visit.open(site / "judge.html")
    assert page.pdf(format="A4").startswith(b"%PDF")
    plots = page.locator("figure[data-chart] .plot")
    assert plots.count() > 2
    assert page.locator("figure[data-chart] .plot:has(svg)").count() == plots.count()
    visit.close()


def test_colours_follow_the_switch(browser: "Browser", site: Path) -> None:
    visit = Visit(browser, scheme="dark")
    page = visit.open(site / "index.html")
    paper = "getComputedStyle(document.body).backgroundColor"
    dark = page.evaluate(paper)
    page.locator("#theme").click()
    light = page.evaluate(paper)
    assert (page.locator("#theme").inner_text(), dark != light) == ("○ Light", True)
    page.locator("#theme").click()
    assert page.evaluate(paper) == dark
    visit.close()


@pytest.mark.slow
@pytest.mark.timing
@pytest.mark.parametrize("name", ["benchmark", "training"])
def test_large_pages_open_at_once(browser: "Browser", tmp_path: Path, name: str) -> None:
    """10,000 tries, or 1,000 steps: within 2 s from the disk, below 6 MB."""
    training = load_material([write_training(tmp_path / "training", steps=1000)]).trainings
    tries = BenchFound(run="r", records=build_tries(10_000))
    build_site(Material(benches=(tries,), trainings=training), tmp_path / "pages")
    path = tmp_path / "pages" / f"{name}.html"
    assert path.stat().st_size < 6_000_000
    visit = Visit(browser)
    start_s = time.monotonic()
    page = visit.open(path)
    page.locator("[data-table] tbody tr" if name == "benchmark" else "figure svg").first.wait_for()
    seconds = time.monotonic() - start_s
    print(f"{name}: {seconds:.2f} s, {path.stat().st_size} bytes")
    assert seconds < 2
    visit.close()

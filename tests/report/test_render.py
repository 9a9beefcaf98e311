"""A page is HTML that holds nothing but what we meant, whatever others wrote."""

import html.parser
import json
import re

import pytest

from cuda_agent.report.build import build_pages
from cuda_agent.report.material import Material
from cuda_agent.report.render import Renderer, highlight_source, mark_code
from tests.report.conftest import HOSTILE, KINDS, build_hostile

ALLOWED_SCRIPTS = 2
"""The page's data, and the page's script."""


class Reader(html.parser.HTMLParser):
    """Collects what a browser would act on."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.scripts: list[str] = []
        self._is_script = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]
        self._is_script = tag == "script"

    def handle_endtag(self, tag: str) -> None:
        self._is_script = False

    def handle_data(self, data: str) -> None:
        if self._is_script:
            self.scripts.append(data)


def read(text: str) -> Reader:
    reader = Reader()
    reader.feed(text)
    return reader


@pytest.mark.parametrize("kind", [*KINDS, "all"])
def test_hostile_text_is_text_on_every_page(kind: str) -> None:
    hostile = build_hostile(KINDS.get(kind, HOSTILE))
    pages = build_pages(hostile)
    assert not [page.name for page in pages if page.is_empty]
    renderer = Renderer(pages[:1])
    for page in pages:
        text = renderer.render(page)
        reader = read(text)
        assert reader.tags.count("script") == ALLOWED_SCRIPTS
        assert "img" not in reader.tags
        assert not [name for name, _ in reader.attributes if name.startswith("on") or name == "style"]
        assert " 49 " not in text
        assert all(each.isprintable() or each == "\n" for each in text)
        assert len(text.encode()) < 6_000_000


def test_inlined_data_survives_its_escapes(hostile: Material) -> None:
    page = next(each for each in build_pages(hostile) if each.name == "benchmark")
    data = json.loads(read(Renderer([page]).render(page)).scripts[0])
    cells = [cell for row in data["tables"]["tries"]["rows"] for cell in row if isinstance(cell, str)]
    assert any(cell.startswith("</script><script>") for cell in cells)
    assert HOSTILE not in cells


def test_only_our_style_and_script_are_allowed_and_no_network() -> None:
    page = build_pages(Material())[0]
    for is_live, connect in ((False, "connect-src 'none'"), (True, "connect-src 'self'")):
        text = Renderer([page], is_live=is_live).render(page)
        told = next(value for _, value in read(text).attributes if "default-src" in value)
        assert connect in told
        assert told.startswith("default-src 'none'")
        assert "unsafe" not in told


def test_links_lead_to_files_of_the_site(recorded: Material) -> None:
    pages = build_pages(recorded)
    names = {f"{page.name}{end}" for page in pages for end in (".html", ".json")}
    renderer = Renderer([page for page in pages if page.in_menu])
    for page in pages:
        reader = read(renderer.render(page))
        links = {value.partition("#")[0] for name, value in reader.attributes if name in ("href", "src")}
        assert links - {""} <= names


def test_file_names_are_harmless_and_differ() -> None:
    pages = [page for kind in KINDS.values() for page in build_pages(build_hostile(kind)) if not page.in_menu]
    names = [page.name for page in pages]
    assert len(set(names)) == len(names) == 2 * len(KINDS)
    assert all(re.fullmatch(r"episode-[A-Za-z0-9_-]{0,75}", name) for name in names)


def test_prose_has_code_and_nothing_else() -> None:
    assert mark_code("see `a<b` & `c`, ``") == "see <code>a&lt;b</code> &amp; <code>c</code>, ``"
    assert mark_code("`</code><script>`") == "<code>&lt;/code&gt;&lt;script&gt;</code>"


def test_highlighted_source_is_escaped() -> None:
    shown = highlight_source('// </pre><script>\nint x = 1; "<b>"', "k.cu")
    assert "<script>" not in shown
    assert "&lt;script&gt;" in shown
    assert 'class="kt"' in shown
    assert 'class="k' in highlight_source("def f(): pass", "m.py")

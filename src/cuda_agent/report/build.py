"""From material to a folder of pages: each page one HTML file that needs nothing else, and its JSON twin."""

import json
from collections.abc import Callable, Collection, Iterator
from pathlib import Path

from cuda_agent.atomic import write_whole
from cuda_agent.errors import InfrastructureError
from cuda_agent.report.benchmark import build_benchmark_page
from cuda_agent.report.episodes import build_agent_pages
from cuda_agent.report.judge_page import build_judge_page
from cuda_agent.report.material import Material
from cuda_agent.report.overview import build_overview
from cuda_agent.report.page import Page
from cuda_agent.report.pipeline import build_pipeline_page
from cuda_agent.report.render import Renderer
from cuda_agent.report.reward_page import build_reward_page
from cuda_agent.report.system import build_system_page
from cuda_agent.report.training import build_training_page


def build_pages(material: Material) -> list[Page]:
    """All pages, the overview first, in the order of the menu."""
    agent, *episodes = build_agent_pages(material)
    rest = [
        build_pipeline_page(material),
        agent,
        build_reward_page(material),
        build_benchmark_page(material),
        build_training_page(material),
        build_judge_page(material),
        build_system_page(material),
    ]
    return [build_overview(material, rest), *rest, *episodes]


def render_site(material: Material, *, is_live: bool = False) -> Iterator[tuple[str, str]]:
    """Each file's name and text: every page, and its twin.

    `is_live` makes pages ask the server that serves them whether there is news.
    """
    pages = build_pages(material)
    renderer = Renderer([page for page in pages if page.in_menu], is_live=is_live)
    for page in pages:
        yield f"{page.name}.html", renderer.render(page)
        yield f"{page.name}.json", json.dumps(page.model_dump(mode="json"), indent=1, allow_nan=False) + "\n"


def build_site(
    material: Material, out: Path, *, observe: Callable[[str], None] = lambda _: None
) -> list[Path]:
    """Write every page and its twin into a folder; a page that has not changed is left as it is.

    `observe` gets each file's name.

    Raises:
        InfrastructureError: the folder cannot be written.
    """
    written = []
    try:
        out.mkdir(parents=True, exist_ok=True)
        for name, text in render_site(material):
            _write(out / name, text)
            written.append(out / name)
            observe(name)
    except OSError as error:
        raise InfrastructureError(
            f"{out} cannot be written ({error.strerror}); make room or choose another folder with --out"
        ) from error
    _remove_stale(out, {path.name for path in written})
    return written


def _write(path: Path, text: str) -> None:
    """Whole or not at all, since a browser may be reading it."""
    content = text.encode()
    if path.exists() and path.read_bytes() == content:
        return
    write_whole(path, content)


def _remove_stale(out: Path, kept: Collection[str]) -> None:
    """Episodes' pages of an earlier build that are no longer among the pages."""
    for path in out.glob("episode-*"):
        if path.suffix in (".html", ".json") and path.name not in kept:
            path.unlink()

"""A site is a folder of pages with their twins."""

import json
from pathlib import Path

import pytest

from cuda_agent.errors import InfrastructureError
from cuda_agent.report.build import build_pages, build_site
from cuda_agent.report.material import Material

MENU = ["index", "pipeline", "agent", "reward", "benchmark", "training", "judge", "system"]


def test_every_page_has_its_twin(recorded: Material, tmp_path: Path) -> None:
    told: list[str] = []
    files = build_site(recorded, tmp_path / "site", observe=told.append)
    assert [file.name for file in files] == told
    assert {file.stem for file in files if not file.stem.startswith("episode-")} == set(MENU)
    twin = json.loads((tmp_path / "site" / "judge.json").read_text())
    assert len(twin["tables"]["cases"]["rows"]) == len(recorded.cases)
    assert all(file.stat().st_size < 1_000_000 for file in files)


def test_built_again_nothing_is_written_and_stale_pages_go(recorded: Material, tmp_path: Path) -> None:
    build_site(recorded, tmp_path)
    before = {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    (tmp_path / "episode-old.html").write_text("old")
    (tmp_path / "notes.txt").write_text("mine")
    build_site(recorded, tmp_path)
    after = {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    assert after.keys() == before.keys() | {tmp_path / "notes.txt"}
    assert all(after[path] == time for path, time in before.items())


def test_without_material_every_page_says_what_is_missing() -> None:
    pages = build_pages(Material())
    assert [page.name for page in pages] == MENU
    assert all(page.missing for page in pages)


def test_a_folder_that_cannot_be_made(recorded: Material, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InfrastructureError, match="choose another folder"):
        build_site(recorded, tmp_path / "file" / "site")

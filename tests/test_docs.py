"""What the documents say is so."""

import re
import tomllib
from pathlib import Path

import pytest

import cuda_agent.cli.main
from scripts.readme_tree import replace_tree

REPOSITORY = Path(__file__).resolve().parents[1]
DOCUMENTS = sorted([*REPOSITORY.glob("*.md"), *REPOSITORY.glob("docs/**/*.md")])


def test_readme_tree_is_current() -> None:
    readme = (REPOSITORY / "README.md").read_text()
    assert replace_tree(readme) == readme, "run `make docs`"


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.relative_to(REPOSITORY).as_posix())
def test_links_lead_somewhere(document: Path) -> None:
    links = re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", document.read_text())
    broken = [link for link in links if "://" not in link and not (document.parent / link).exists()]
    assert not broken


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.relative_to(REPOSITORY).as_posix())
def test_named_files_exist(document: Path) -> None:
    """A path in backticks that begins at one of our folders is there."""
    paths = re.findall(r"`((?:src|tests|examples|scripts|docs)/[\w./-]+)`", document.read_text())
    assert not [path for path in paths if not (REPOSITORY / path).exists()]


def test_named_make_targets_exist() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (REPOSITORY / "Makefile").read_text(), flags=re.MULTILINE))
    named = {name for path in DOCUMENTS for name in re.findall(r"`make ([a-z-]+)", path.read_text())}
    assert named
    assert named <= targets


def test_makefile_explains_every_target() -> None:
    makefile = (REPOSITORY / "Makefile").read_text()
    targets = set(re.findall(r"^([a-z-]+):", makefile, flags=re.MULTILINE)) - {"venv", "clean"}
    told = set(re.findall(r"^#   make ([a-z-]+) ", makefile, flags=re.MULTILINE))
    phony = re.search(r"^\.PHONY: (.+)$", makefile, flags=re.MULTILINE)
    assert told == targets
    assert phony
    assert targets <= set(phony[1].split())


def test_readme_names_every_verb_there_is() -> None:
    files = (REPOSITORY / "src" / "cuda_agent" / "cli").glob("*.py")
    verbs = {path.stem for path in files if f"def run_{path.stem}(" in path.read_text()}
    readme = (REPOSITORY / "README.md").read_text()
    assert verbs
    assert {verb for verb in verbs if f"`cuda-agent {verb}" not in readme} == set()


def test_readme_gives_the_exit_statuses_of_the_help() -> None:
    told = re.findall(
        r"^  (\d+) +(.+)$", (cuda_agent.cli.main.__doc__ or "").split("exit status:")[1], flags=re.MULTILINE
    )
    readme = (REPOSITORY / "README.md").read_text()
    assert len(told) >= 5
    assert [
        f"| {status} | {meaning} |" for status, meaning in told if f"| {status} | {meaning} |" not in readme
    ] == []


def test_version_has_a_changelog_entry() -> None:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())
    assert "version" in project["project"]["dynamic"]
    package = (REPOSITORY / "src" / "cuda_agent" / "__init__.py").read_text()
    version = re.search(r'__version__ = "([\d.]+)"', package)
    assert version
    assert f"## {version[1]}" in (REPOSITORY / "CHANGELOG.md").read_text()

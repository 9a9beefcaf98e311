"""The skill in a folder of skills: complete, replaced whole, and never over something else."""

import re
from pathlib import Path

import pytest

from cuda_agent.environment.skills import install_skill, lay_skill, read_skill_name
from cuda_agent.errors import UserError
from cuda_agent.tasks.target import Target


def test_an_installed_skill_is_complete(tmp_path: Path) -> None:
    place = install_skill(tmp_path / "skills")
    text = (place / "SKILL.md").read_text()
    assert read_skill_name(place / "SKILL.md") == place.name
    assert "cuda-agent evaluate MODEL.py FOLDER" in text
    named = set(re.findall(r"`((?:references|examples)/[\w./]*)`", text))
    assert {"references/cpu.md", "references/hopper.md", "references/kernel.h", "examples/cpu"} <= named
    assert not {name for name in named if not (place / name).exists()}
    assert [path.name for path in (tmp_path / "skills").iterdir()] == [place.name]


def test_an_older_one_gives_way_whole(tmp_path: Path) -> None:
    place = install_skill(tmp_path)
    (place / "references" / "of_an_older_version.md").write_text("old")
    assert install_skill(tmp_path) == place
    assert not (place / "references" / "of_an_older_version.md").exists()
    assert (place / "references" / "cpu.md").exists()


def test_something_else_stays(tmp_path: Path) -> None:
    name = install_skill(tmp_path / "one").name
    (tmp_path / "two" / name).mkdir(parents=True)
    (tmp_path / "two" / name / "SKILL.md").write_text("---\nname: mine\n---\n")
    (tmp_path / "three").mkdir()
    (tmp_path / "three" / name).symlink_to(tmp_path / "one" / name)
    for folder in ("two", "three"):
        with pytest.raises(UserError, match="move it away first"):
            install_skill(tmp_path / folder)
    assert (tmp_path / "two" / name / "SKILL.md").read_text() == "---\nname: mine\n---\n"


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="choose another folder"):
        install_skill(tmp_path / "file" / "skills")


@pytest.mark.parametrize("target", Target)
def test_a_workspace_has_the_examples_of_its_target(tmp_path: Path, target: Target) -> None:
    lay_skill(tmp_path, target)
    suffix = {Target.CPU: ".cpp", Target.CUDA: ".cu"}[target]
    assert [path.suffix for path in (tmp_path / "examples" / "kernels").iterdir()] == [suffix]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("---\nname: kernel\ndescription: x\n---\n", "kernel"),
        ("---\ndescription: x\nname: a-b\n---\n", "a-b"),
        ("name: kernel\n", ""),
        ("", ""),
    ],
)
def test_a_skills_name(tmp_path: Path, text: str, name: str) -> None:
    (tmp_path / "SKILL.md").write_text(text)
    assert read_skill_name(tmp_path / "SKILL.md") == name

"""The skill as files: laid into a workspace, or installed where agents of other makers look for skills."""

import re
import shutil
import tempfile
from pathlib import Path

from cuda_agent.environment.toolchain import SKILL
from cuda_agent.errors import UserError
from cuda_agent.tasks.target import Target

SKILL_FILE = "SKILL.md"
REFERENCES = "references"
EXAMPLES = "examples"
INSTALLED_NOTE = Path(__file__).parent / "templates" / "installed_skill.md"
"""What an installed SKILL.md says beyond the workspace's: how to reach the judge without a workspace."""

NAME = re.compile(r"\A---\n(?:.*\n)*?name: *([a-z0-9-]+) *\n")


def lay_skill(root: Path, target: Target | None = None) -> None:
    """Lay the skill's files into a folder: SKILL.md, references, examples of one target or of all."""
    shutil.copyfile(SKILL / SKILL_FILE, root / SKILL_FILE)
    shutil.copytree(SKILL / REFERENCES, root / REFERENCES)
    shutil.copyfile(SKILL / "include" / "cuda_agent" / "kernel.h", root / REFERENCES / "kernel.h")
    examples = SKILL / EXAMPLES
    shutil.copytree(examples if target is None else examples / target.value, root / EXAMPLES)


def install_skill(folder: Path) -> Path:
    """Install the skill into a folder of skills, under its own name; an older one gives way, whole.

    Raises:
        UserError: something else lies there, or the folder cannot be written.
    """
    name = read_skill_name(SKILL / SKILL_FILE)
    assert name, "our own skill has a name"
    place = folder / name
    if place.is_symlink() or (place.exists() and read_skill_name(place / SKILL_FILE) != name):
        raise UserError(f"{place} is there, and is no skill called {name}: move it away first")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder, prefix=f".{name}-") as temporary:
            made = Path(temporary) / "new"
            made.mkdir()
            lay_skill(made)
            with (made / SKILL_FILE).open("a", encoding="utf-8") as file:
                file.write("\n" + INSTALLED_NOTE.read_text(encoding="utf-8"))
            if place.exists():
                place.rename(Path(temporary) / "old")
            made.rename(place)
    except OSError as error:
        raise UserError(f"{place} cannot be written ({error.strerror}): choose another folder") from error
    return place


def read_skill_name(path: Path) -> str:
    """The name in a SKILL.md's front matter; empty where there is none."""
    try:
        found = NAME.match(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError):
        return ""
    return found[1] if found else ""


def read_skill_files(target: Target) -> dict[str, str]:
    """The skill's files for a target by their place in a workspace, for whoever reads them elsewhere."""
    with tempfile.TemporaryDirectory(prefix="skill-") as temporary:
        root = Path(temporary)
        lay_skill(root, target)
        files = sorted(path for path in root.rglob("*") if path.is_file())
        return {path.relative_to(root).as_posix(): path.read_text(encoding="utf-8") for path in files}

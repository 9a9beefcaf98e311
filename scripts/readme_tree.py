"""Print the README's tree, or with --write put it there: one line a room, in the order of the floors.

What a room is comes from its own docstring, and the order from import-linter's contract, so neither can
drift. `tests/test_docs.py` compares the README with this.
"""

import ast
import re
import sys
import tomllib
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]
PACKAGE = REPOSITORY / "src" / "cuda_agent"
START, END = "<!-- tree: make docs -->\n", "<!-- end of tree -->\n"
BESIDE = {
    "examples/": "modules to try it on, in the KernelBench convention",
    "tests/": "mirrors src/; test_house.py holds the house rules",
    "scripts/": "what Makefile and documents call",
    "docs/": "words.md, models.md, log.md (experiments), results/, design/",
}


def load_floors() -> list[list[str]]:
    """Rooms by floor, highest first, as pyproject.toml contracts them."""
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())
    contracts = project["tool"]["importlinter"]["contracts"]
    layers = next(contract["layers"] for contract in contracts if contract["type"] == "layers")
    return [re.split(r"\s*[|:]\s*", layer) for layer in layers]


def read_summary(path: Path) -> str:
    """The first sentence of a module's docstring, as an entry of a list: no full stop."""
    docstring = ast.get_docstring(ast.parse(path.read_text()))
    assert docstring, f"{path} has no docstring"
    return docstring.splitlines()[0].split(". ")[0].rstrip(".")


def build_tree() -> str:
    """The tree as a fenced block."""
    lines = ["src/cuda_agent/"]
    for floor in load_floors():
        for room in floor:
            folder = PACKAGE / room
            path = folder / "__init__.py" if folder.is_dir() else folder.with_suffix(".py")
            label = f"{room}/" if folder.is_dir() else f"{room}.py"
            lines.append(f"  {label:<15}{read_summary(path)}")
    lines += [f"{folder:<17}{what}" for folder, what in BESIDE.items()]
    return "```\n" + "\n".join(lines) + "\n```\n"


def replace_tree(readme: str) -> str:
    """The README's text with its tree brought up to date."""
    before, rest = readme.split(START)
    after = rest.split(END)[1]
    return f"{before}{START}{build_tree()}{END}{after}"


def main() -> None:
    """Print the tree, or write it into the README."""
    if sys.argv[1:] == ["--write"]:
        readme = REPOSITORY / "README.md"
        readme.write_text(replace_tree(readme.read_text()))
    else:
        print(build_tree(), end="")


if __name__ == "__main__":
    main()

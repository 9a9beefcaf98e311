"""Search finds lines, within bounds."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from cuda_agent.agent.tools.commands import Commands
from cuda_agent.agent.tools.outputs import Outputs
from cuda_agent.agent.tools.search import SearchTool
from cuda_agent.agent.tools.tool import InvalidCallError
from cuda_agent.environment.pause import Company
from cuda_agent.sandbox.protocol import Command, Mount, Sandbox


@pytest.fixture
def search(sandbox: Sandbox, tmp_path: Path) -> Iterator[SearchTool]:
    """A search over a small workspace."""
    folder = tmp_path / "workspace"
    (folder / "kernels").mkdir(parents=True)
    (folder / "model.py").write_text("import torch\n\nclass Model:\n    pass\n")
    (folder / "kernels" / "a.cpp").write_text("int a;\nint model;\n")
    (folder / "kernels" / "a.h").write_text("int torch_free;\n")
    (folder / "kernels" / "a.o").write_bytes(b"\0int model;\n")
    (folder / "long.txt").write_text("needle" + "x" * 5000 + "\n" + "many\n" * 500)
    shell = Command(argv=("true",), cwd=folder, mounts=(Mount(path=folder, writable=True),))
    with Commands(sandbox, Company()) as commands:
        yield SearchTool(commands, shell, Outputs(folder))


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        ({"pattern": "[Mm]odel"}, {"kernels/a.cpp:2:int model;", "model.py:3:class Model:"}),
        ({"pattern": "int", "glob": "*.h"}, {"kernels/a.h:1:int torch_free;"}),
        ({"pattern": "torch", "path": "model.py"}, {"model.py:1:import torch"}),
        ({"pattern": "int (a|b);", "path": "kernels"}, {"kernels/a.cpp:1:int a;"}),
        ({"pattern": "-e"}, {"no matches"}),
        ({"pattern": "torch", "path": "none"}, {"error: grep: none: No such file or directory"}),
    ],
)
def test_it_finds_lines_by_pattern_path_and_name(
    search: SearchTool, arguments: dict[str, str], found: set[str]
) -> None:
    assert set(search.run(dict(arguments)).split("\n")) == found


def test_a_broken_pattern_is_an_answer_not_a_crash(search: SearchTool) -> None:
    assert search.run({"pattern": "(", "path": "-r"}).startswith("error: grep: Unmatched (")


def test_long_lines_and_many_matches_are_cut_and_counted(search: SearchTool) -> None:
    line = search.run({"pattern": "needle"})
    assert line == "long.txt:1:needle" + "x" * 283 + "..."
    lines = search.run({"pattern": "^many"}).split("\n")
    assert len(lines) == 201
    assert lines[-1] == "[300 more matching lines; narrow the pattern, path or glob]"


def test_a_pattern_made_to_be_slow_is_not(search: SearchTool) -> None:
    start_s = time.monotonic()
    assert search.run({"pattern": "(x+x+)+y", "path": "long.txt"}) == "no matches"
    assert time.monotonic() - start_s < 10.0


def test_a_folder_in_the_glob_is_explained(search: SearchTool) -> None:
    with pytest.raises(InvalidCallError, match="give the folder in path"):
        search.run({"pattern": "x", "glob": "kernels/*.cu"})

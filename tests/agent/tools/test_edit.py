"""Edits act on the workspace's files, exactly as asked or not at all."""

from pathlib import Path

import pytest

from cuda_agent.agent.tools.edit import EditTool
from cuda_agent.agent.tools.tool import InvalidCallError
from cuda_agent.environment.workspace import Workspace

TEXT = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A workspace with a text, the reference, and a link out of it."""
    folder = tmp_path / "workspace"
    (folder / "kernels").mkdir(parents=True)
    (folder / "kernels" / "a.cpp").write_text(TEXT)
    (folder / "model.py").write_text("class Model: pass\n")
    (tmp_path / "secret").write_text("secret")
    (folder / "link").symlink_to(tmp_path / "secret")
    return folder


@pytest.fixture
def edit(root: Path) -> EditTool:
    """The tool on that workspace."""
    return EditTool(Workspace(root))


def test_create_writes_a_whole_file_also_over_an_old_one(edit: EditTool, root: Path) -> None:
    assert edit.run({"command": "create", "path": "kernels/b.cpp", "file_text": "int b;"}) == (
        "wrote kernels/b.cpp (1 lines)"
    )
    edit.run({"command": "create", "path": f"{root}/kernels/b.cpp", "file_text": "int c;\nint d;\n"})
    assert (root / "kernels" / "b.cpp").read_text() == "int c;\nint d;\n"


def test_view_numbers_lines_and_takes_ranges(edit: EditTool) -> None:
    view = {"command": "view", "path": "kernels/a.cpp"}
    assert edit.run(view).split("\n")[9] == "    10\tten"
    assert edit.run({**view, "view_range": [2, 3]}) == "     2\ttwo\n     3\tthree"
    assert edit.run({**view, "view_range": [10, -1]}) == "    10\tten\n    11\t"
    assert edit.run({**view, "view_range": [10, 99]}) == "    10\tten\n    11\t"
    for first, last in [(0, 3), (5, 4), (12, 13), (3, -2)]:
        assert edit.run({**view, "view_range": [first, last]}).startswith(
            "error: kernels/a.cpp has lines 1 to 11"
        )


def test_view_lists_folders(edit: EditTool, root: Path) -> None:
    for path in (".", "./", str(root)):
        assert edit.run({"command": "view", "path": path}) == "kernels/a.cpp\nmodel.py"
    for path in ("kernels", "./kernels/", f"{root}/kernels"):
        assert edit.run({"command": "view", "path": path}) == "kernels/a.cpp"


def test_replace_shows_the_change_with_the_lines_around_it(edit: EditTool, root: Path) -> None:
    said = edit.run(
        {"command": "str_replace", "path": "kernels/a.cpp", "old_str": "five\nsix", "new_str": "5\n5.5\n6"}
    )
    assert said.split("\n") == [
        "changed kernels/a.cpp:",
        *(
            f"{n:6}\t{w}"
            for n, w in enumerate(["two", "three", "four", "5", "5.5", "6", "seven", "eight", "nine"], 2)
        ),
    ]
    assert (root / "kernels" / "a.cpp").read_text() == TEXT.replace("five\nsix", "5\n5.5\n6")


def test_replace_without_new_text_deletes(edit: EditTool, root: Path) -> None:
    edit.run({"command": "str_replace", "path": "kernels/a.cpp", "old_str": "two\n"})
    assert (root / "kernels" / "a.cpp").read_text() == TEXT.replace("two\n", "")


@pytest.mark.parametrize(
    ("old", "words"),
    [
        ("e\n", "occurs 4 times in kernels/a.cpp (lines 1, 3, 5, 9)"),
        ("eleven", "is not in kernels/a.cpp; view the file"),
        ("five six", "only with other spaces or line breaks"),
    ],
)
def test_replace_needs_exactly_one_place_and_else_changes_nothing(
    edit: EditTool, root: Path, old: str, words: str
) -> None:
    said = edit.run({"command": "str_replace", "path": "kernels/a.cpp", "old_str": old, "new_str": "x"})
    assert said.startswith("error: old_str")
    assert words in said
    assert (root / "kernels" / "a.cpp").read_text() == TEXT


def test_overlapping_places_are_several(edit: EditTool, root: Path) -> None:
    (root / "x.txt").write_text("aaa")
    assert "occurs 2 times" in edit.run(
        {"command": "str_replace", "path": "x.txt", "old_str": "aa", "new_str": "b"}
    )


@pytest.mark.parametrize(
    ("line", "expected"),
    [(0, "new\n" + TEXT), (3, TEXT.replace("four", "new\nfour")), (11, TEXT + "\nnew")],
)
def test_insert_puts_lines_after_a_line(edit: EditTool, root: Path, line: int, expected: str) -> None:
    edit.run({"command": "insert", "path": "kernels/a.cpp", "insert_line": line, "insert_text": "new\n"})
    assert (root / "kernels" / "a.cpp").read_text() == expected


def test_insert_beyond_the_end_is_refused(edit: EditTool, root: Path) -> None:
    said = edit.run({"command": "insert", "path": "kernels/a.cpp", "insert_line": 12, "insert_text": "new"})
    assert said == "error: kernels/a.cpp has lines 1 to 11; insert_line is one of them, or 0"
    assert (root / "kernels" / "a.cpp").read_text() == TEXT


@pytest.mark.parametrize(
    "path", ["../secret", "link", "/etc/passwd", "model.py", "kernels/../../secret", "kernels", "", "a\0b"]
)
def test_what_must_not_be_written_is_refused_in_a_sentence(edit: EditTool, root: Path, path: str) -> None:
    said = edit.run({"command": "create", "path": path, "file_text": "x"})
    assert said.startswith("error: ")
    assert (root.parent / "secret").read_text() == "secret"
    assert (root / "model.py").read_text() == "class Model: pass\n"


@pytest.mark.parametrize("path", ["../secret", "link", "/etc/hostname", "none.cpp"])
def test_what_must_not_be_read_is_refused(edit: EditTool, path: str) -> None:
    said = edit.run({"command": "view", "path": path})
    assert said.startswith("error: ")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"command": "create", "path": "a"}, "create needs file_text"),
        ({"command": "insert", "path": "a"}, "insert needs insert_line and insert_text"),
        ({"command": "str_replace", "path": "model.py", "old_str": ""}, "old_str is empty"),
        ({"command": "undo", "path": "a"}, "'create', 'view', 'str_replace' or 'insert'"),
        ({"command": "view"}, "path: Field required"),
        ({"command": "view", "path": "a", "view_range": [1]}, "view_range"),
    ],
)
def test_arguments_that_do_not_fit_the_command_are_explained(
    edit: EditTool, arguments: dict[str, str], words: str
) -> None:
    with pytest.raises(InvalidCallError) as raised:
        edit.run(dict(arguments))
    assert words in str(raised.value)

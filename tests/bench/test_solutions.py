"""All solutions of a folder are found, each once, whatever they are called."""

import os
from pathlib import Path

import pytest

from cuda_agent.bench.solutions import find_solutions, name_path
from cuda_agent.bench.suite import Suite, load_suite
from cuda_agent.errors import UserError

SUITE = Path(__file__).parents[1] / "suite"
EMPTY = "class ModelNew: ...\n"


@pytest.fixture(scope="module")
def suite() -> Suite:
    return load_suite(SUITE)


def put(root: Path, *names: str) -> None:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(EMPTY)


def test_layouts_may_be_mixed(suite: Suite, tmp_path: Path) -> None:
    put(
        tmp_path,
        "level_1_problem_10_sample_10_kernel.py",
        "level_1_problem_10_sample_2_kernel.py",
        "level_1_problem_1_sample_0_kernel.py",
        "level_1_problem_1_sample_0_prompt.txt",
        "level_1_problem_77_sample_0_kernel.py",
        "level2/1_bias_gelu/a/model_new.py",
        "level2/1_bias_gelu/b/model_new.py",
        "level2/1_bias_gelu/b/kernels/x.cpp",
        "unknown/model_new.py",
    )
    found = find_solutions(tmp_path, suite)
    places = {each.task.task_id: each.place for each in suite.tasks}
    assert [(places[each.task_id], each.number, each.name) for each in found.listed.solutions] == [
        ("level1/1_relu", 0, "level_1_problem_1_sample_0_kernel.py"),
        ("level1/10_tanh", 0, "level_1_problem_10_sample_2_kernel.py"),
        ("level1/10_tanh", 1, "level_1_problem_10_sample_10_kernel.py"),
        ("level2/1_bias_gelu", 0, "level2/1_bias_gelu/a"),
        ("level2/1_bias_gelu", 1, "level2/1_bias_gelu/b"),
    ]
    assert [left.place for left in found.listed.left_out] == [
        "level_1_problem_77_sample_0_kernel.py",
        "unknown",
    ]
    assert [pair.pair_id for pair in found.pairs] == [each.name for each in found.listed.solutions]
    assert found.pairs[0].submission == tmp_path / "level_1_problem_1_sample_0_kernel.py"


def test_a_folder_without_solutions_is_an_error(suite: Suite, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="holds no solution"):
        find_solutions(tmp_path, suite)
    with pytest.raises(UserError, match="is not a folder"):
        find_solutions(tmp_path / "absent", suite)


def test_duplicates_are_tries_of_their_own(suite: Suite, tmp_path: Path) -> None:
    put(tmp_path, *(f"{copy}/level_1_problem_1_sample_0_kernel.py" for copy in "abc"))
    put(tmp_path, "level_01_problem_001_sample_0_kernel.py")
    found = find_solutions(tmp_path, suite)
    assert [each.number for each in found.listed.solutions] == [0, 1, 2, 3]
    assert len({each.name for each in found.listed.solutions}) == 4


def test_absurd_names_stay_apart_and_harmless(suite: Suite, tmp_path: Path) -> None:
    names = [b"\xff\xfe", b"\\xff\\xfe", b"\x1b[2J", b"a\nb", b"<script>|", b"x" * 200, "über 名".encode()]
    for name in names:
        folder = os.fsencode(tmp_path) + b"/" + name + b"/1_relu"
        os.makedirs(folder)
        with open(folder + b"/model_new.py", "w") as file:
            file.write(EMPTY)
    found = find_solutions(tmp_path, suite)
    shown = [each.name for each in found.listed.solutions]
    assert len(set(shown)) == len(names)
    assert all(name.isprintable() for name in shown)
    assert "über 名/1_relu" in shown
    assert found.listed.model_validate_json(found.listed.model_dump_json()) == found.listed
    assert all((pair.submission / "model_new.py").read_text() == EMPTY for pair in found.pairs)


def test_a_link_out_of_the_folder_is_not_followed(suite: Suite, tmp_path: Path) -> None:
    outside = tmp_path / "outside" / "1_relu"
    put(outside, "model_new.py")
    inside = tmp_path / "inside"
    put(inside, "level1/10_tanh/model_new.py")
    (inside / "1_relu").symlink_to(outside)
    assert [each.name for each in find_solutions(inside, suite).listed.solutions] == ["level1/10_tanh"]


def test_a_changed_name_has_a_digest() -> None:
    assert name_path(Path("a/b c")) == "a/b c"
    assert name_path(Path("a\nb")).startswith("a\\nb [")

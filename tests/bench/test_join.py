"""A solution is joined to the task that its name or its surroundings tell, and to no other."""

from pathlib import Path, PurePath

import pytest

from cuda_agent.bench.join import Joiner, read_sample
from cuda_agent.bench.suite import Suite, SuiteTask, load_suite

SUITE = Path(__file__).parents[1] / "suite"


@pytest.fixture(scope="module")
def suite() -> Suite:
    return load_suite(SUITE)


def place_of(found: SuiteTask | str) -> str:
    return found.place if isinstance(found, SuiteTask) else f"none: {found}"


@pytest.mark.parametrize(
    ("folder", "place"),
    [
        ("level1/1_relu", "level1/1_relu"),
        ("level1/10_tanh", "level1/10_tanh"),
        ("level1/11_scaled_sum/3", "level1/11_scaled_sum"),
        ("mine/level2/1_bias_gelu/sample_0/final", "level2/1_bias_gelu"),
        ("2_row_softmax", "level1/2_row_softmax"),
        ("level_1_problem_2_sample_7", "level1/2_row_softmax"),
        ("level_1_problem_10", "level1/10_tanh"),
        ("level2/1_relu", "level1/1_relu"),  # the deeper name counts
    ],
)
def test_by_name(suite: Suite, tmp_path: Path, folder: str, place: str) -> None:
    assert place_of(Joiner(suite, tmp_path).join_folder(PurePath(folder))) == place


@pytest.mark.parametrize("folder", [".", "1", "level1", "1_relu_old", "level_1_problem_3_sample_0", "10_tan"])
def test_no_name_is_guessed(suite: Suite, tmp_path: Path, folder: str) -> None:
    assert place_of(Joiner(suite, tmp_path).join_folder(PurePath(folder))).startswith("none: no task of the")


def test_numbers_join_as_a_whole(suite: Suite, tmp_path: Path) -> None:
    joiner = Joiner(suite, tmp_path)
    files = [PurePath(f"level_1_problem_{number}_sample_0_kernel.py") for number in (1, 2, 10, 11, 3)]
    assert [place_of(joiner.join_file(file)) for file in files] == [
        "level1/1_relu",
        "level1/2_row_softmax",
        "level1/10_tanh",
        "level1/11_scaled_sum",
        "none: the suite has no task of this level and number",
    ]


def test_what_lies_beside_counts_more_than_a_name(suite: Suite, tmp_path: Path) -> None:
    work = tmp_path / "1_relu" / "work"
    work.mkdir(parents=True)
    tanh = (SUITE / "level1" / "10_tanh.py").read_text()
    (work / "model.py").write_text(tanh.replace("\n\n\n", "\n\n\n\n"))
    joiner = Joiner(suite, tmp_path)
    assert place_of(joiner.join_folder(PurePath("1_relu/work"))) == "level1/10_tanh"
    (work / "model.py").write_text(tanh.replace("tanh", "sinh"))
    assert (
        place_of(joiner.join_folder(PurePath("1_relu/work"))) == "none: its model.py is no task of the suite"
    )
    (work / "model.py").write_text("def (")
    assert "none: " in place_of(joiner.join_folder(PurePath("1_relu/work")))
    task_id = suite.tasks[0].task.task_id
    (work / "evaluation.json").write_text(f'{{"task_id": "{task_id}"}}')
    assert place_of(joiner.join_folder(PurePath("1_relu/work"))) == suite.tasks[0].place


@pytest.mark.parametrize("text", ["", "[]", '{"task_id": 3}', "[" * 100_000, "\0\xff"])
def test_a_damaged_evaluation_tells_nothing(suite: Suite, tmp_path: Path, text: str) -> None:
    (tmp_path / "1_relu").mkdir()
    (tmp_path / "1_relu" / "evaluation.json").write_text(text, encoding="latin-1")
    assert place_of(Joiner(suite, tmp_path).join_folder(PurePath("1_relu"))) == "level1/1_relu"


def test_an_evaluation_that_is_a_link_is_not_followed(suite: Suite, tmp_path: Path) -> None:
    (tmp_path / "1_relu").mkdir()
    (tmp_path / "1_relu" / "evaluation.json").symlink_to("/dev/zero")
    assert place_of(Joiner(suite, tmp_path).join_folder(PurePath("1_relu"))) == "level1/1_relu"


def test_samples() -> None:
    names = [
        "level_1_problem_2_sample_13_kernel.py",
        "level_1_problem_2_sample_4/work",
        "level_1_problem_2",
        "x",
    ]
    assert [read_sample(PurePath(name)) for name in names] == [13, 4, 0, 0]

"""A suite is found in each of its layouts, in order, and says what is left out of it."""

from pathlib import Path

import pyarrow
import pyarrow.parquet
import pytest

from cuda_agent.bench.suite import Suite, SuiteKind, load_suite
from cuda_agent.errors import UserError
from cuda_agent.tasks.dataset import Row, write_dataset

SUITE = Path(__file__).parents[1] / "suite"


def list_places(suite: Suite) -> list[str]:
    return [each.place for each in suite.tasks]


def test_a_checkout_is_read_by_level_and_number(tmp_path: Path) -> None:
    suite = load_suite(SUITE)
    assert suite.kind is SuiteKind.KERNELBENCH
    places = ["level1/1_relu", "level1/2_row_softmax", "level1/10_tanh", "level1/11_scaled_sum"]
    assert list_places(suite) == [*places, "level2/1_bias_gelu", "level2/2_all_ones"]
    assert [(each.level, each.problem) for each in suite.tasks[:4]] == [(1, 1), (1, 2), (1, 10), (1, 11)]
    assert suite.version == "no version that is known: 6 of 6 tasks are in none"
    (tmp_path / "KernelBench").symlink_to(SUITE)
    assert load_suite(tmp_path).tasks == suite.tasks
    assert list_places(load_suite(SUITE / "level2")) == places_of(suite, 2)


def places_of(suite: Suite, level: int) -> list[str]:
    return [each.place for each in suite.tasks if each.level == level]


def test_levels_and_places_can_be_chosen() -> None:
    assert list_places(load_suite(SUITE, levels=[2])) == ["level2/1_bias_gelu", "level2/2_all_ones"]
    assert list_places(load_suite(SUITE, only=["level1/1"])) == ["level1/1_relu"]
    assert len(load_suite(SUITE, only=["level1"]).tasks) == 4
    with pytest.raises(UserError, match=r"no task 'level1/3'; its tasks are called level1/1_relu"):
        load_suite(SUITE, only=["level1/3"])
    with pytest.raises(UserError, match="its levels are 1, 2"):
        load_suite(SUITE, levels=[4])


def test_its_parquet_files_hold_the_same_tasks(tmp_path: Path) -> None:
    suite = load_suite(SUITE)
    for level in (1, 2):
        rows = [
            {
                "code": each.task.source,
                "level": level,
                "name": f"{each.task.name}.py",
                "problem_id": each.problem,
            }
            for each in suite.tasks
            if each.level == level
        ]
        pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), tmp_path / f"level_{level}.parquet")
    assert load_suite(tmp_path).tasks == suite.tasks
    assert list_places(load_suite(tmp_path / "level_2.parquet")) == places_of(suite, 2)


def test_a_data_set_is_a_suite(tmp_path: Path) -> None:
    code = (SUITE / "level1" / "1_relu.py").read_text()
    rows = [Row(ops=("torch.relu",), data_source="torch#1", code=code, id=name) for name in ("a", "b")]
    write_dataset(tmp_path / "tasks.parquet", rows)
    suite = load_suite(tmp_path / "tasks.parquet")
    assert (suite.kind, len(suite.tasks), suite.version) == (SuiteKind.DATASET, 1, "2 rows")
    assert [left.reason for left in suite.left_out] == [f"the same task as {suite.tasks[0].place}"]


def test_a_folder_of_tasks_says_what_is_none(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "relu.py").write_text((SUITE / "level1" / "1_relu.py").read_text())
    (tmp_path / "no_task.py").write_text("x = 1\n")
    suite = load_suite(tmp_path)
    assert (suite.kind, list_places(suite)) == (SuiteKind.FOLDER, ["a/relu"])
    assert [left.place for left in suite.left_out] == ["no_task"]
    assert "Model is not defined" in suite.left_out[0].reason
    assert suite.index()[suite.tasks[0].task.task_id] == suite.tasks[0]


def test_nothing_to_read_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no such suite"):
        load_suite(tmp_path / "absent")
    with pytest.raises(UserError, match=r"no \.py file"):
        load_suite(tmp_path)
    (tmp_path / "broken.parquet").write_bytes(b"no parquet")
    with pytest.raises(UserError, match="not readable as parquet"):
        load_suite(tmp_path / "broken.parquet")

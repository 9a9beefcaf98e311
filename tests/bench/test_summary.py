"""Each level has its row, the whole has one, and every task is in both."""

import pytest

from cuda_agent.bench.record import RecordStatus
from cuda_agent.bench.summary import summarise
from tests.bench.conftest import BuildRecord


def test_rows_by_level_add_up(build: BuildRecord) -> None:
    tries = [
        build("a-0", 2.0, level=1),
        build("b-0", status=RecordStatus.UNTIMED, level=1),
        build("c-0", level=3),
    ]
    rows = summarise(tries)
    assert [(row.level, row.tasks) for row in rows] == [(0, 3), (1, 2), (3, 1)]
    assert rows[0].statuses == {"correct": 1, "untimed": 1, "failed": 1}
    assert rows[1].passed.value == 0.5
    assert rows[2].speedup["correct"]["eager"] is None
    assert rows[0].pass_at_k == {}


def test_many_tries_have_their_estimates(build: BuildRecord) -> None:
    (row,) = summarise([build("a-0", 2.0), build("a-0", number=1)])
    assert (row.tasks, row.tries, row.passed.value) == (1, 2, 1.0)
    assert {k: found.value for k, found in row.pass_at_k.items()} == {1: 0.5, 2: 1.0}
    assert row.best_of_k[1].value == 1.0


def test_nothing_is_an_error() -> None:
    with pytest.raises(ValueError, match="no record"):
        summarise([])

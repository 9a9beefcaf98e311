"""Each level has its row, the whole has one, and every task is in both."""

import pytest

from cuda_agent.bench.record import Flag, RecordStatus
from cuda_agent.bench.summary import list_refused, summarise
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


def test_what_the_gate_refuses_is_missing_from_rows_of_their_own(build: BuildRecord) -> None:
    refused = {"status": RecordStatus.TASK_ERROR, "flags": (Flag.GATE,)}
    tries = [
        build("a-0", 2.0, level=1),
        build("b-0", level=1, **refused),
        build("b-0", level=1, number=1, **refused),
        build("c-0", 2.0, level=2),
    ]
    rows = summarise(tries)
    assert [(row.population.value, row.level, row.tasks, row.passed.value) for row in rows] == [
        ("all", 0, 3, pytest.approx(2 / 3)),
        ("all", 1, 2, 0.5),
        ("all", 2, 1, 1.0),
        ("worth judging", 0, 2, 1.0),
        ("worth judging", 1, 1, 1.0),
        ("worth judging", 2, 1, 1.0),
    ]
    assert [record.task_id for record in list_refused(tries)] == ["b-0"]


def test_a_task_that_does_not_fit_is_missing_too_unless_some_try_was_judged(build: BuildRecord) -> None:
    unfit = {"status": RecordStatus.TASK_ERROR, "flags": (Flag.GATE_UNKNOWN,)}
    tries = [build("a-0", 2.0), build("b-0", **unfit), build("c-0", **unfit), build("c-0", number=1)]
    assert [(row.population.value, row.tasks, row.passed.value) for row in summarise(tries)] == [
        ("all", 3, pytest.approx(1 / 3)),
        ("worth judging", 2, 0.5),
    ]
    assert [record.task_id for record in list_refused(tries)] == ["b-0"]


def test_each_judge_has_its_rows(build: BuildRecord) -> None:
    rows = summarise([build("a-0", judge="strict"), build("a-0", 2.0, judge="paper")])
    assert [(row.judge, row.tasks, row.passed.value) for row in rows] == [
        ("strict", 1, 0.0),
        ("paper", 1, 1.0),
    ]

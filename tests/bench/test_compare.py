"""Tasks are joined by their whole id, and a score is judged by the sign test."""

import pytest

from cuda_agent.bench.compare import Verdict, compare, compute_sign_test
from cuda_agent.bench.record import RecordStatus
from tests.bench.conftest import BuildRecord


def test_each_common_task_has_a_verdict(build: BuildRecord) -> None:
    a = [
        build("1_x-0", 2.0),
        build("2_x-0", 1.0),
        build("10_x-0"),
        build("11_x-0", 1.02),
        build("3_x-0", 1.0),
    ]
    b = [build("11_x-0", 1.0), build("10_x-0"), build("1_x-0", 1.0), build("2_x-0", 4.0), build("4_x-0", 1.0)]
    found = compare(a, b)
    verdicts = {duel.task_id: duel.verdict for duel in found.duels}
    assert verdicts == {
        "1_x-0": Verdict.WIN,
        "2_x-0": Verdict.LOSS,
        "10_x-0": Verdict.TIE,
        "11_x-0": Verdict.TIE,
    }
    assert (found.only_a, found.only_b) == (("3_x-0",), ("4_x-0",))
    assert (found.both_right, found.p_value) == (3, 1.0)
    assert found.ratio == pytest.approx((2.0 * 0.25 * 1.02) ** (1 / 3))


def test_a_failure_loses_to_any_right_answer(build: BuildRecord) -> None:
    found = compare([build("t-0", status=RecordStatus.UNTIMED)], [build("t-0", 0.1)])
    assert (found.duels[0].verdict, found.ratio) == (Verdict.LOSS, None)
    assert found.duels[0].a_status == "untimed"


def test_the_best_try_stands_for_its_task(build: BuildRecord) -> None:
    found = compare([build("t-0", 1.0), build("t-0", 3.0, number=1)], [build("t-0", 2.0)])
    assert found.duels[0].verdict is Verdict.WIN


def test_sign_test() -> None:
    assert compute_sign_test(0, 0) == 1.0
    assert compute_sign_test(5, 0) == 2 / 32
    assert compute_sign_test(0, 5) == compute_sign_test(5, 0)
    assert compute_sign_test(8, 2) == pytest.approx(2 * (1 + 10 + 45) / 1024)


def test_nothing_in_common_is_an_error(build: BuildRecord) -> None:
    with pytest.raises(ValueError, match="no task in common"):
        compare([build("a-0", 1.0)], [build("b-0", 1.0)])

import pytest

from cuda_agent.expert.index import Affine
from cuda_agent.expert.lowering import CutError, Place
from cuda_agent.expert.ops import Lane
from cuda_agent.expert.plan import Level
from tests.expert.lowered import PLACE, build, node, ref

ROW = Place((PLACE.index[0],), 0)


def test_a_row_is_reduced_once_a_row() -> None:
    lowering = build(node("s", "sum", 4, input=ref("x"), dims=[1]))
    value = lowering.values[lowering.lower("s", ROW)]
    assert (value.op, value.level, len(value.args)) == ("reduce_sum", Level.ROW, 1)


def test_pieces_of_a_row_are_reduced_together() -> None:
    lowering = build(node("s", "amax", 4, input=ref("x"), dims=[1]))
    lowering.domain = lowering.domain.cut_columns(2)
    value = lowering.values[lowering.lower("s", ROW)]
    assert [lowering.values[arg].loop for arg in value.args] == [0, 1]


def test_everything_is_reduced_at_the_end() -> None:
    lowering = build(node("s", "sum", input=ref("x"), dims=[0, 1]), is_flat=True)
    assert lowering.values[lowering.lower("s", Place((), 0))].level is Level.FINAL


def test_a_value_a_row_is_reduced_at_the_end_too() -> None:
    lowering = build(
        node("s", "sum", 4, input=ref("x"), dims=[1]), node("t", "sum", input=ref("s"), dims=[0])
    )
    total = lowering.values[lowering.lower("t", Place((), 0))]
    assert total.level is Level.FINAL
    assert lowering.values[total.args[0]].level is Level.ROW


def test_truth_values_are_reduced_as_whole_numbers() -> None:
    lowering = build(
        node("m", "gt", 4, 6, dtype="bool", _0=ref("x"), _1=0.0),
        node("a", "amax", 4, dtype="bool", input=ref("m"), dims=[1]),
    )
    value = lowering.values[lowering.lower("a", ROW)]
    assert (value.op, value.lane) == ("cast", Lane.BOOL)
    assert lowering.values[value.args[0]].lane is Lane.I64


def test_another_axis_or_another_row_is_cut() -> None:
    lowering = build(node("s", "sum", 6, input=ref("x"), dims=[0]))
    with pytest.raises(CutError, match="another row"):
        lowering.lower("s", Place((PLACE.index[1],), 0))
    with pytest.raises(CutError, match="another extent"):
        lowering.lower("s", Place((Affine(2),), 0))


def test_a_part_of_the_rows_does_not_make_a_total() -> None:
    lowering = build(node("s", "sum", input=ref("x"), dims=[0, 1]))
    lowering.domain = lowering.domain.cut_rows(0, 2)[0]
    with pytest.raises(CutError, match="part of the rows"):
        lowering.lower("s", Place((), 0))

import pytest

from cuda_agent.expert.index import Affine
from cuda_agent.expert.lower_point import narrow_index
from cuda_agent.expert.lowering import CutError, Place
from cuda_agent.expert.ops import Lane
from cuda_agent.expert.plan import Level
from tests.expert.lowered import PLACE, build, node, ref


def test_operands_are_broadcast_and_levels_join() -> None:
    lowering = build(node("a", "add", 4, 6, _0=ref("row"), _1=ref("col")))
    value = lowering.values[lowering.lower("a", PLACE)]
    assert value.level is Level.FULL
    assert [lowering.values[arg].level for arg in value.args] == [Level.ROW, Level.FULL]
    assert narrow_index((1, 6), PLACE.index) == (Affine(), PLACE.index[1])


def test_operands_share_a_lane() -> None:
    lowering = build(
        node("m", "gt", 4, 1, dtype="bool", _0=ref("i"), _1=2.5),
        node("w", "where", 4, 1, _0=ref("m"), _1=ref("row"), _2=1),
    )
    place = Place((PLACE.index[0], Affine()), 0)
    compared = lowering.values[lowering.lower("m", place)]
    assert [lowering.values[arg].lane for arg in compared.args] == [Lane.F32, Lane.F32]
    chosen = lowering.values[lowering.lower("w", place)]
    assert [lowering.values[arg].lane for arg in chosen.args] == [Lane.BOOL, Lane.F32, Lane.F32]


def test_division_by_a_row_is_one_division_a_row() -> None:
    lowering = build(node("d", "div", 4, 6, _0=ref("x"), _1=ref("row")))
    value = lowering.values[lowering.lower("d", PLACE)]
    assert value.op == "mul"
    inverse = lowering.values[value.args[1]]
    assert (inverse.op, inverse.level) == ("reciprocal", Level.ROW)


def test_a_narrow_cast_rounds() -> None:
    lowering = build(node("c", "cast", 4, 6, dtype="bfloat16", _0=ref("x")))
    assert lowering.values[lowering.lower("c", PLACE)].op == "round_bfloat16"


def test_a_dear_value_that_is_needed_many_times_is_cut() -> None:
    lowering = build(node("e", "exp", 6, _0=ref("col")), node("a", "mul", 4, 6, _0=ref("x"), _1=ref("e")))
    with pytest.raises(CutError) as caught:
        lowering.lower("a", PLACE)
    assert caught.value.node == "e"


def test_what_is_known_last_cannot_be_used_within_the_rows() -> None:
    lowering = build(
        node("s", "sum", input=ref("x"), dims=[0, 1]), node("d", "mul", 4, 6, _0=ref("x"), _1=ref("s"))
    )
    with pytest.raises(CutError) as caught:
        lowering.lower("d", PLACE)
    assert caught.value.node == "s"

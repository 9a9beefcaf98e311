from cuda_agent.expert.index import Affine
from cuda_agent.expert.lowering import Place
from cuda_agent.expert.ops import Lane
from cuda_agent.expert.plan import Level
from tests.expert.lowered import PLACE, build


def test_equal_steps_are_written_once() -> None:
    lowering = build()
    assert lowering.add_literal(1.0, Lane.F32) == lowering.add_literal(1, Lane.F32)
    assert lowering.add_literal(1.0, Lane.F32) != lowering.add_literal(1, Lane.I64)
    assert lowering.lower("x", PLACE) == lowering.lower("x", PLACE)
    assert len(lowering.values) == 3


def test_levels_follow_from_counters() -> None:
    lowering = build()
    full = lowering.lower("x", PLACE)
    row = lowering.lower("row", Place((PLACE.index[0], Affine()), 0))
    once = lowering.lower("one", Place((), 0))
    assert lowering.get_levels([full, row, once]) == [Level.FULL, Level.ROW, Level.ONCE]
    access = lowering.values[full].access
    assert access is not None
    assert access.terms == ((0, 6), (1, 1))


def test_literals_convert_without_a_step() -> None:
    lowering = build()
    number = lowering.convert(lowering.add_literal(2, Lane.I64), Lane.F32)
    assert lowering.values[number].literal == 2.0
    cast = lowering.convert(lowering.lower("x", PLACE), Lane.F64)
    assert (lowering.values[cast].op, lowering.values[cast].lane) == ("cast", Lane.F64)


def test_places_of_whole_tensors_and_of_rows() -> None:
    lowering = build()
    assert lowering.locate((4, 6), 0, is_row=False) == PLACE.index
    assert lowering.locate((4,), 0, is_row=True) == (PLACE.index[0],)
